"""Integration tests of `optimizer/hudi/continuous`."""
