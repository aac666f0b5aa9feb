"""Pure decisions about incidents."""
