"""Background work: claims, submits, polls and settles. It contains no rules."""
