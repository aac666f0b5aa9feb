"""Which statements may be rewritten, and by whom: pure."""
