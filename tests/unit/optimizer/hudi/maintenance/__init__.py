"""Unit tests of `optimizer/hudi/maintenance`."""
