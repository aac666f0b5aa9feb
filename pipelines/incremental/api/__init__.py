"""API of layers."""
