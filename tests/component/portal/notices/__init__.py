"""Component tests of `portal/notices`."""
