"""Component tests of `lifecycle/answers`."""
