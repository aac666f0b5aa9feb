"""Component tests of `optimizer/discovery`."""
