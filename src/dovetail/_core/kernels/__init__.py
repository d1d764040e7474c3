"""Loops over arrays of numbers, most of them one-dimensional int64 or float64: arithmetic and nothing else.

Types, nulls, units, directions and inclusiveness were settled before; a kernel writes into arrays that its caller
allocated and returns numbers. All flags of the compiler are in `compile.py`; `memory.py` allocates what kernels fill,
`threads.py` runs them side by side.
"""
