"""Rules of cubes: definitions, coverage, estimates; pure."""
