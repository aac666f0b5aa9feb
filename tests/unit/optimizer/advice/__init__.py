"""Unit tests of `optimizer.advice`."""
