"""Search for programs."""
