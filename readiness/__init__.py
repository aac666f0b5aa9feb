"""The room of ready partitions: who says that a partition's data is complete."""
