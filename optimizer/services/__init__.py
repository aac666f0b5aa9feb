"""What the optimizer room changes: each in one transaction."""
