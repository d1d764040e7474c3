"""Loops over one-dimensional int64 and float64 arrays: arithmetic and nothing else.

Types, nulls, units, directions and inclusiveness were settled before; a kernel writes into arrays that its caller
allocated and returns numbers. The one decorator that compiles them is in `compile.py`.
"""
