"""Pages on which answers are given."""
