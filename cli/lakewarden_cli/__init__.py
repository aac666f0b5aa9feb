"""Command line of the portal. It imports nothing of the portal and speaks to its API alone."""
