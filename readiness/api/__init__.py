"""The room of ready partitions for programs."""
