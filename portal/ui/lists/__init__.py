"""Renders lists: filters, keyset pages, columns, CSV exports."""
