"""Workers that hold a part of each side and pass rows to each other: what each does, and the links between them.

The links are memory in one process, or TCP between processes and Spark tasks; the workers cannot tell.
"""
