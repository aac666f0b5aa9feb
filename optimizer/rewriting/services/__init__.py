"""Writes of `optimizer.rewriting`: readings of tables, and answers from what they found."""
