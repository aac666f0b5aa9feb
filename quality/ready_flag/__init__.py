"""The flag that says that the data of a partition is complete, and who sets it."""
