"""Lists what a person may do with a pending approval. The services check it again."""

from dataclasses import dataclass
from datetime import datetime

from portal.access.models import User
from portal.approvals.models import Approval
from portal.approvals.selectors import approval_moves


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps that are open to a person now."""

    approve: bool = False
    reject: bool = False
    withdraw: bool = False
    undo: bool = False

    @property
    def names(self) -> list[str]:
        """The steps, as the API gives them."""
        every = ("approve", "reject", "withdraw", "undo")
        return [name for name in every if getattr(self, name)]


def steps_of(approval: Approval, user: User, *, now: datetime) -> Steps:
    """Say what the approval itself leaves a person to do."""
    moves = approval_moves(approval, user=user, now=now)
    return Steps("APPROVE" in moves, "REJECT" in moves, "WITHDRAW" in moves)
