"""Normal form of aggregate queries, and its comparison with stored aggregates."""
