"""Joins over iterators of Arrow batches: what arrives, what is remembered of it, and what leaves in the order of time.

The operators find combinations by the areas of `_core/sweep`; here conditions are read, columns evaluated, rows kept.
"""
