"""Pages of `lifecycle.relocation`."""
