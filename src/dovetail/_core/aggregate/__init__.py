"""Folding partners without making pairs.

An aggregate is *prepared* into lanes of numbers, one per partner row; lanes are *updated* by slices, thresholds or
pairs and *merged* by addition or maximum; what comes out is *finished* into the column that Spark would give.
"""
