"""What queries group a fact table by, and the cubes that would answer them."""
