"""Clients of `refresh.core`."""
