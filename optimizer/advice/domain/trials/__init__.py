"""Rules of the trial of a layout on a branch: what is sampled, and what it showed."""
