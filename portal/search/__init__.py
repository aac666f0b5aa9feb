"""Search: finds what a person may see by parts of its name or the beginning of its id."""
