"""Cache refresh: StarRocks front ends kept as fresh as the metastore."""
