"""Tests of backups of the portal's own database."""
