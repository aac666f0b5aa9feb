"""What changed in a table between two of its commits, and how far a target has read its sources."""
