"""Registers kinds of runs, decides when they may start, and calls the safety hooks."""
