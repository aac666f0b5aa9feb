"""Labels of the states of cubes. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.cubes.domain.states import CubeState
from portal.ui.frame.states import Badge, register_badges

BADGES: Mapping[str, Badge] = {
    f"CUBE_{CubeState.ACTIVE}": Badge("Active", "circle-check", "good", "Built on new commits."),
    f"CUBE_{CubeState.PAUSED}": Badge(
        "Paused", "player-pause", "warn", "Not built; what it covers still answers queries."
    ),
    f"CUBE_{CubeState.DROPPING}": Badge(
        "Being dropped", "loader-2", "busy", "A run takes its table away."
    ),
    f"CUBE_{CubeState.DROPPED}": Badge("Dropped", "ban", "quiet"),
}


def register_cube_badges() -> None:
    """Tell the kit how cubes look."""
    register_badges({str(state): look for state, look in BADGES.items()})
