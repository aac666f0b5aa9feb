"""Types, values and changes of schema of captured tables, and who decides on them."""
