"""Commands of quality."""
