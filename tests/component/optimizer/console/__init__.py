"""Component tests of `optimizer/console`."""
