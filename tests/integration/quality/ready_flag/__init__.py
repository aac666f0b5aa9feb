"""Integration tests of `quality/ready_flag`."""
