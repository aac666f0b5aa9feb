"""What was said of an object, and what may a person do with one approval now?"""

from datetime import datetime

from portal.access.models import User
from portal.approvals.domain import OPEN, ApprovalState, Verdict
from portal.approvals.kinds import get_kind
from portal.approvals.models import Approval, Decision


def approval_latest(kind: str, object_id: str) -> Approval | None:
    """Give the open approval of an object (there is at most one), else the newest that ended."""
    rows = Approval.objects.filter(kind=kind, object_id=object_id)
    return rows.exclude(open_key=None).first() or rows.order_by("-created_at").first()


def decisions_of(approval: Approval | None) -> list[Decision]:
    """Give who said what, in order; nobody where no approval was asked for."""
    if approval is None:
        return []
    return list(approval.decisions.select_related("user").order_by("at"))


def approval_moves(approval: Approval, *, user: User, now: datetime) -> frozenset[str]:
    """Give what the server would let the person do now: APPROVE, REJECT, WITHDRAW.

    A fresh login is asked for when it is done.
    """
    state = ApprovalState(approval.state)
    if state not in OPEN or approval.lapses_at <= now:
        return frozenset()
    said = {one.user_id: one.verdict for one in approval.decisions.all()}
    if _asked(approval, user):
        may_withdraw = state is ApprovalState.PENDING and not said
        return frozenset({"WITHDRAW"}) if may_withdraw else frozenset()
    if not user.roles & get_kind(approval.kind).roles:
        return frozenset()
    moves = {Verdict.REJECT.value}
    if state is ApprovalState.PENDING and user.pk not in said:
        moves.add(Verdict.APPROVE.value)
    return frozenset(moves)


def _asked(approval: Approval, user: User) -> bool:
    return user.username.casefold() in {name.casefold() for name in approval.requesters}
