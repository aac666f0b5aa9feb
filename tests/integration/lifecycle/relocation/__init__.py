"""Integration tests of `lifecycle/relocation`."""
