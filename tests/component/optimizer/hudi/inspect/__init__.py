"""Component tests of `optimizer/hudi/inspect`."""
