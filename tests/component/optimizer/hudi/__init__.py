"""Component tests of `optimizer/hudi`."""
