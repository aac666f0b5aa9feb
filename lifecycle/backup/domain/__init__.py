"""Pure rules of `lifecycle.backup`: states, places in a backup root, what a job is told."""
