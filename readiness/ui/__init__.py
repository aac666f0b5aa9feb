"""The pages of the room of ready partitions."""
