"""Component tests of `optimizer`."""
