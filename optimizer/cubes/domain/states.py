"""States of a cube."""

from enum import StrEnum


class CubeState(StrEnum):
    """Whether a cube is kept up to date."""

    ACTIVE = "ACTIVE"  # built for new commits
    PAUSED = "PAUSED"  # a person said so: what is built stays and is used while it is right
    DROPPING = "DROPPING"  # a person said so: a run takes its table away
    DROPPED = "DROPPED"


OPEN = frozenset({CubeState.ACTIVE, CubeState.PAUSED, CubeState.DROPPING})
"""States in which the name is taken."""

BUILT = frozenset({CubeState.ACTIVE})
"""States in which builds come to a cube."""
