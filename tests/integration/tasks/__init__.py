"""Tests of the loops and commands of tasks."""
