"""Component tests of `lifecycle/relocation`."""
