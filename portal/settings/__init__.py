"""Which settings the site runs with: development, test or production, all on one base."""
