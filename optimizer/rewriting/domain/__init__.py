"""What is known of tables and cubes, and the text of a query answered from them: pure functions."""

KIND = "optimizer.rewrite"
"""The name of the run that reads what rewriting needs to know of tables."""
