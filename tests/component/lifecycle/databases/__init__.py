"""Component tests of `lifecycle/databases`."""
