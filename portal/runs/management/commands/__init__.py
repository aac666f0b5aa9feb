"""Commands of the act app."""
