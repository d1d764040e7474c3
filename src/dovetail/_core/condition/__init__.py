"""What a match means: Spark SQL text in, frozen values out.

Text is only ever parsed here, never executed, and nothing here knows NumPy, Arrow or Spark.
"""
