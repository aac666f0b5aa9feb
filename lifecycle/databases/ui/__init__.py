"""Pages of `lifecycle.databases`."""
