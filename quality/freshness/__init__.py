"""By when partitions must be ready, which rule may say so, and which are late."""
