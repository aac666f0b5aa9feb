"""Comments that people write about a proposal: read by whoever may see it, and never changed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from portal.access.models import User
from portal.approvals.models import ApprovalComment, Proposal
from portal.approvals.proposals import ProposalKind, get_proposal_kind
from portal.lake.errors import Busy, RuleViolation
from portal.lake.reasons import check_text

MOST_SIGNS = 4_000
MOST_AT_ONCE = 20
WINDOW = timedelta(minutes=10)
SHOWN = 200


@transaction.atomic
def comment_add(
    kind_name: str, proposal_id: UUID | str, *, user: User, text: str, now: datetime
) -> ApprovalComment:
    """Write a comment on a proposal that the person may see; each call writes one.

    Raises:
        NotVisible: no such kind or proposal for this person.
        RuleViolation: nothing said, too much, or signs that cannot be shown.
        Busy: the person wrote too many within ten minutes.
    """
    kind = get_proposal_kind(kind_name)
    proposal = kind.get_for_user(proposal_id, user=user)
    words = text.replace("\r\n", "\n").strip()
    if not words:
        raise RuleViolation("comment.empty", "Enter a comment.", field="text")
    if len(words) > MOST_SIGNS:
        raise RuleViolation(
            "comment.long", f"A comment has at most {MOST_SIGNS:,} characters.", field="text"
        )
    check_text(words)
    mine = ApprovalComment.objects.filter(author=user.username, at__gt=now - WINDOW)
    if mine.count() >= MOST_AT_ONCE:
        seconds = int(WINDOW.total_seconds())
        raise Busy(
            "comment.too_many",
            f"You wrote {MOST_AT_ONCE} comments within ten minutes. Wait a little, please.",
            after_seconds=seconds,
        )
    comment = ApprovalComment.objects.create(
        lake=kind.lake_of(proposal),
        kind=kind.name,
        object_id=proposal.pk,
        author=user.username,
        text=words,
        at=now,
    )
    kind.audit("commented", proposal, actor=user.username, now=now, comment=comment.pk, text=words)
    return comment


def comments_on(
    kind_name: str, proposal_id: UUID | str, *, user: User
) -> Sequence[ApprovalComment]:
    """Return the comments on a proposal that the person may see, the oldest first.

    Raises:
        NotVisible: no such kind or proposal for this person.
    """
    kind = get_proposal_kind(kind_name)
    return comments_of(kind, kind.get_for_user(proposal_id, user=user))


def comments_of(kind: ProposalKind[Any], proposal: Proposal) -> Sequence[ApprovalComment]:
    """Return the newest comments on a proposal that was found already, the oldest of them first."""
    rows = ApprovalComment.objects.filter(kind=kind.name, object_id=proposal.pk)
    return list(reversed(rows.order_by("-at", "-id")[:SHOWN]))
