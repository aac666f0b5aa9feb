"""Claims runs by conditional UPDATE with an epoch, and elects leaders by leases."""
