"""Component tests of the command line."""
