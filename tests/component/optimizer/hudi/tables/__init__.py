"""Component tests of `optimizer/hudi/tables`."""
