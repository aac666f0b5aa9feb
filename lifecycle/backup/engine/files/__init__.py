"""Judges and prepares the places of an item: backup root, live place, directories above."""
