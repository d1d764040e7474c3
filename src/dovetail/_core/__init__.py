"""The join itself, apart from any host: what a match means, what to do, and how to find the rows.

The rooms are stages; each imports only rooms that stand before it in `ARCHITECTURE.md`.
"""
