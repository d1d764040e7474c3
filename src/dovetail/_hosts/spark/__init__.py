"""The spark host: DataFrames, classic and Connect, through the public DataFrame API alone.

Spark reads, filters, evaluates one-sided expressions and moves rows; the core joins each cell inside an Arrow-iterator
task.
"""
