"""The API of `quality.incidents`."""
