"""REST API of `lifecycle.relocation`."""
