"""Integration tests of the command line."""
