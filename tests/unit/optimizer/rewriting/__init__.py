"""Rewriting queries so that cubes answer them: pure functions."""
