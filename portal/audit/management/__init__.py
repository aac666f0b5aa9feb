"""Commands about the record."""
