"""Writes of `optimizer.cubes`: what people define, and what they ask of a cube."""
