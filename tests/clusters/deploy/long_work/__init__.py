"""A Django app that the drill of upgrades puts into two releases: one long kind of run."""
