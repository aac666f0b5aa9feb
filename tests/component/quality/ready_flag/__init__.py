"""Component tests of `quality/ready_flag`."""
