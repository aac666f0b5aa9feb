"""Frames every page: lake and navigation, error pages, states in words, safe addresses."""
