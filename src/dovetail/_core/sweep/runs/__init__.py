"""Runs: sorted stretches of rows on disk, written whole or not at all, read and merged some rows at a time.

`files.py` keeps the directory, `merge.py` reads several runs in one order, `strategy.py` says which are merged and
when.
"""
