"""Masks and encrypts columns on their way into the lake."""
