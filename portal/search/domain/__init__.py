"""Words of names, and how far a typed word is from them."""
