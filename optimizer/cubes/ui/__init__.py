"""Pages of `optimizer.cubes`."""
