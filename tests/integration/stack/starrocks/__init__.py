"""Integration tests of `stack/starrocks`."""
