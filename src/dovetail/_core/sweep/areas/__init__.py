"""Sweep areas: what a stream join remembers of an input, found again by value and forgotten by time.

An area takes batches of rows as order keys, each with its interval of validity. The verbs are `insert`, `probe`,
`expire`, `snapshot` and `restore`. One file per kind says how the rows lie: by equality key, by one value, by an
interval, by distance, by boxes; `area.py` holds what all kinds share.
"""
