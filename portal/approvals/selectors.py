"""What waits for a person's decision, and what may they do with one approval now?"""

from datetime import datetime

from portal.access.models import User
from portal.approvals.domain import OPEN, ApprovalState, Verdict
from portal.approvals.kinds import all_kinds, get_kind
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


def approvals_waiting_for(user: User, *, now: datetime, limit: int = 200) -> list[Approval]:
    """Give what the person may decide and has not decided yet, the first to lapse first."""
    kinds = [kind.name for kind in all_kinds() if kind.roles & user.roles]
    if not kinds:
        return []
    pending = (
        Approval.objects.filter(state=ApprovalState.PENDING, kind__in=kinds, lapses_at__gt=now)
        .exclude(decisions__user=user)
        .order_by("lapses_at")[:limit]
    )
    return [approval for approval in pending if not _asked(approval, user)]


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
