"""The API of `quality.checks`."""
