"""Component tests of `lifecycle/notices`."""
