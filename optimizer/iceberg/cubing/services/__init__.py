"""Orders for cubes, and what came of them."""
