"""Which index of a column is worth its cost: before it is built, after, and at each query."""
