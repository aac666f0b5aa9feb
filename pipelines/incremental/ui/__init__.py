"""Pages of layers."""
