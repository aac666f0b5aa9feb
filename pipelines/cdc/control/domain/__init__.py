"""What a pipeline is meant to be, and in which state it is."""
