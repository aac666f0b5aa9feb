"""Tests of pure decisions: no database, no socket, no clock."""
