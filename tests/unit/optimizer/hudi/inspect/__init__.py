"""Unit tests of `optimizer/hudi/inspect`."""
