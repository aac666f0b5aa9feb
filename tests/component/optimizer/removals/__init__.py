"""Component tests of `optimizer/removals`."""
