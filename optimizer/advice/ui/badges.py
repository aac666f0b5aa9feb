"""Labels of the states of advice. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.advice.domain.states import AdviceState
from portal.ui.frame.states import Badge, register_badges

BADGES: Mapping[str, Badge] = {
    f"ADVICE_{AdviceState.NEW}": Badge("New", "bulb", "warn", "Waits for somebody's decision."),
    f"ADVICE_{AdviceState.APPLIED}": Badge(
        "Applied", "circle-check", "good", "The table's policy has it, or its cube is defined."
    ),
    f"ADVICE_{AdviceState.ROLLED_BACK}": Badge(
        "Rolled back",
        "arrow-back-up",
        "quiet",
        "The policy is as it was before, or the cube is paused.",
    ),
    f"ADVICE_{AdviceState.DISMISSED}": Badge("Dismissed", "ban", "quiet"),
    f"ADVICE_{AdviceState.OUTDATED}": Badge(
        "Outdated", "history", "quiet", "Later scans do not speak for it any more."
    ),
}


def register_advice_badges() -> None:
    """Tell the kit how advice looks."""
    register_badges({str(state): look for state, look in BADGES.items()})
