"""Tests that prove that backups can be restored."""
