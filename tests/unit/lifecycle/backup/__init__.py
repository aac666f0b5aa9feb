"""Unit tests of `lifecycle/backup`."""
