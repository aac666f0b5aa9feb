"""Quality of data: whether a partition is complete, and whether it is there in time."""
