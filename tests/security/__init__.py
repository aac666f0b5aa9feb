"""Tests that try to get at what is not theirs."""
