"""Unit tests of `optimizer/hudi/continuous`."""
