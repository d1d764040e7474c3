"""Joins of streaming DataFrames: Spark's state store keeps rows until the watermark proves that no partner can come.

What a match means, and how partners are found, is the arrow host's; here it is decided which rows meet, and when.
"""
