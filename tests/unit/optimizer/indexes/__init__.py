"""Tests of the file indexes' format and answers."""
