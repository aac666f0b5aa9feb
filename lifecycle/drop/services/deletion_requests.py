"""Opens and closes owners' deletion requests for data that is to be cleaned now.

A request is a row that admins see and may put into a plan; it drops nothing by itself. It may say
yes to data that is recently read, as `still_read` does without a request.
"""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from lifecycle.inventory.selectors.dropped import check_not_dropped
from lifecycle.models import DeletionRequest, TableFinding
from lifecycle.planning.selectors.inputs import owns_table
from lifecycle.policies.services.deletion_consents import may_say_yes
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.names import PartitionName
from portal.lake.reasons import check_reason, check_text


@transaction.atomic
def deletion_request(
    *,
    lake: str,
    name: tuple[str, str, str],
    with_recently_read: bool,
    reason: str,
    user: User,
    now: datetime,
) -> DeletionRequest:
    """Ask that `name` = (db, table, partition or '') be cleaned; twice gives the open request.

    Raises:
        NotVisible: no such table for this person.
        NotAllowed: the person may see it, but does not own it, or may not say yes for its owner.
        StaleState: it was dropped since the scan.
        RuleViolation: no reason, or no partition name.
    """
    db, table, partition = name
    seen = TableFinding.objects.current(lake).for_user(user).filter(db=db, table=table).first()
    if seen is None:
        raise NotVisible("table.missing", "There is no such table, or it is not yours to see.")
    if not owns_table(user.username, lake=lake, db=db, table=table):
        raise NotAllowed("clean_now.owner", "Only an owner may request the deletion of data.")
    if with_recently_read and not may_say_yes(seen, user):
        raise NotAllowed(
            "still_read.owner",
            "Only the table's owner consents to the deletion of recently read data.",
        )
    check_not_dropped(seen, partition)
    check_reason(reason, "clean_now.reason", "Enter a reason; admins read it.")
    if partition:
        PartitionName.parse(partition)
    wish, is_new = DeletionRequest.objects.get_or_create(
        lake=lake,
        db=db,
        table=table,
        partition=partition,
        requested_by=user.username,
        state=DeletionRequest.State.OPEN,
        with_recently_read=with_recently_read,
        defaults={"reason": reason.strip(), "created_at": now},
    )
    if is_new:
        _audit("clean_now.requested", wish, actor=user.username, now=now)
    return wish


@transaction.atomic
def deletion_request_close(wish_id: UUID | str, *, user: User, reason: str, now: datetime) -> None:
    """Close an open request: its author takes it back, or an admin declines it with a reason."""
    wish = DeletionRequest.objects.filter(pk=wish_id).first()
    is_own = wish is not None and wish.requested_by == user.username
    if wish is None or not (is_own or user.is_lake_staff_of(wish.lake)):
        raise NotVisible("clean_now.missing", "There is no such request, or you may not see it.")
    if not is_own and not user.is_lake_admin_of(wish.lake):
        raise NotAllowed("clean_now.close", "Only its author or an admin may close a request.")
    if not is_own and not reason.strip():
        raise RuleViolation("clean_now.close_reason", "Enter a reason; its author reads it.")
    check_text(reason)
    closed = DeletionRequest.objects.filter(pk=wish.pk, state=DeletionRequest.State.OPEN).update(
        state=DeletionRequest.State.CLOSED,
        closed_at=now,
        closed_by=user.username,
        closed_reason=reason.strip(),
    )
    if not closed:
        raise StaleState("clean_now.closed", "This request is not open any more. Reload the page.")
    _audit("clean_now.closed", wish, actor=user.username, now=now, closed_reason=reason.strip())


def _audit(action: str, wish: DeletionRequest, *, actor: str, now: datetime, **data: str) -> None:
    audit_record(
        action,
        actor=actor,
        lake=wish.lake,
        object_type="table",
        object_id=f"{wish.db}.{wish.table}",
        data={
            "partition": wish.partition,
            "with_recently_read": wish.with_recently_read,
            "reason": wish.reason,
            **data,
        },
        now=now,
    )
