"""Unit tests of `stack/starrocks`."""
