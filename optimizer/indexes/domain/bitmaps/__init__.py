"""Bitmaps of rows by value, by the bits of the value's rank, and by piece."""
