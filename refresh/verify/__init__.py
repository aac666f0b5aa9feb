"""Checks of what nobody reported: files of hot tables, and what front ends answer from."""
