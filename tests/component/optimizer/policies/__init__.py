"""Component tests of `optimizer/policies`."""
