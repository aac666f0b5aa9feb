"""Keeps the index of names up to date, and what people opened last."""
