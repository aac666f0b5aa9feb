"""How data at a nonconforming place is moved to its own, and back."""
