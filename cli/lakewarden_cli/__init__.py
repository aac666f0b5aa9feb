"""Command line of the portal, and `prune` for programs.

It imports nothing of the portal and speaks to its API alone.
"""

from lakewarden_cli.pruning import PrunedQuery, prune

__all__ = ["PrunedQuery", "prune"]
