"""Component tests of `portal/events`."""
