"""Component tests of `optimizer/core`."""
