"""Pure decisions of `lifecycle.relocation`."""
