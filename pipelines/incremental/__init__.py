"""Layers: tables that are kept up to date from the changes of other tables."""
