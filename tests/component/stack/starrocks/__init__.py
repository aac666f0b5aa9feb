"""Component tests of `stack/starrocks`."""
