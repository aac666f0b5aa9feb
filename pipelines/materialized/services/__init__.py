"""Services of materializations."""
