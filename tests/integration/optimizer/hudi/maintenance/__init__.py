"""Integration tests of `optimizer/hudi/maintenance`."""
