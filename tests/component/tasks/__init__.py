"""Component tests of `tasks`."""
