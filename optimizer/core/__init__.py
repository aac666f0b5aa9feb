"""What all capabilities of the optimizer share: tasks, scoring, health, estimates, table locks."""
