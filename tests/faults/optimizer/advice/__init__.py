"""Deaths of runs of `optimizer.advice`."""
