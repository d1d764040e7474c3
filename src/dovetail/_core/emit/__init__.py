"""From positions to rows: the columns of pairs, and unmatched rows.

Outer, semi and anti joins live here, once, for every operator and every host.
"""
