"""The window join as an engine inside the caller's process: rows and small batches in, exact features out."""
