"""Component tests of several areas at once."""
