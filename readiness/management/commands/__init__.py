"""Commands of the room of ready partitions."""
