"""Tests of masters that are clusters of others."""
