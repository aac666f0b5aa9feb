"""What a query says of its tables, and the query narrowed to files: pure functions over SQL."""

KIND = "optimizer.prune"
"""The name of the run that narrows a query."""
SCOPE = "prune"
"""What a token needs for it."""
