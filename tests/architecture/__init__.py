"""Tests of the house itself: who imports whom, how big, and which exceptions with what reason."""
