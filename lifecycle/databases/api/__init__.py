"""REST API of `lifecycle.databases`."""
