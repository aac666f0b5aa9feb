"""Integration tests of `optimizer/cubes`: what stock Spark answers from cubes."""
