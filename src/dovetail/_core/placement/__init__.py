"""Where rows go: the cells of a join, and which cell owns a pair.

One side, the *anchor*, is never replicated: each of its rows lives in one cell, so that its unmatched rows are known
there and nowhere else. Rows of the other side go to every cell in which they may have a partner.
"""
