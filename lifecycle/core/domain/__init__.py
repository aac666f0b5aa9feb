"""Pure decisions of `lifecycle.core`."""
