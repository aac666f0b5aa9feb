"""Template tags of the room of ready partitions."""
