"""What to do: a condition and what is known of the inputs become one frozen plan, which explains itself.

Nothing here runs a join or reads a row.
"""
