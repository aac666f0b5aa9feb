"""Backups of the portal's own database, and what a restored one must not do by itself."""
