"""Tests on a real Trino: an opt-in tier."""
