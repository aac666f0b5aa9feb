"""Brings back what lies in a backup: the drop machine reversed."""
