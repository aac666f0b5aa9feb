"""Destroys backups whose days are over, and looks at them again before."""
