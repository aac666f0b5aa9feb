"""Commands about how programs come in."""
