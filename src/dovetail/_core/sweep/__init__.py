"""Finding the partners: operators over order keys that yield pairs of row positions, or slices of them.

An operator sorts, searches and walks; it never sees a value, a type or a null, and it never builds a row.
"""
