"""The search page and what drops down from the field."""
