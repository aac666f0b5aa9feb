"""Integration tests of `optimizer/hudi/inspect`."""
