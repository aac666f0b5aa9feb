"""Lists of what would be removed, which people approve, and the lease under which runs act."""
