"""The Arrow border: where types, units, NULL and NaN end.

In: Arrow arrays of any Spark type. Out: int64 order keys and null masks that kernels understand, and expressions
evaluated as Spark would.
"""
