"""Pages of materializations."""
