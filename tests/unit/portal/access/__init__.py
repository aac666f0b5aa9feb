"""Tests of the rules of access."""
