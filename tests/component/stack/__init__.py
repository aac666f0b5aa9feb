"""Component tests of `stack`."""
