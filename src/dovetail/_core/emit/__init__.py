"""From positions to rows: the columns of pairs, and the rows that found no partner.

Outer, semi and anti joins live here, once, for every operator and every host.
"""
