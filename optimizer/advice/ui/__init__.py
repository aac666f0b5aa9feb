"""Pages of `optimizer.advice`."""
