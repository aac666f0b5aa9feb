"""Mails new comments on a proposal to who asked for it, decided on it, or commented before.

Comments that follow each other go in one mail: it waits until nobody has written for a while. Who
may not see the proposal, wrote all of it, or turned these mails off gets none.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Min, Q

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.approvals.models import ApprovalComment, Proposal
from portal.approvals.proposals import ProposalKind, get_proposal_kind
from portal.approvals.selectors import requesters_shown
from portal.lake.clock import day_of
from portal.lake.errors import NotVisible
from portal.notices.kinds import MailKind, register_mail_kinds
from portal.notices.letters import Letter, Row, letter_mail
from portal.notices.muting import who_muted
from portal.notices.muting_links import MutingLink, muting_url
from portal.notices.reached import people_reached
from portal.notices.services import notice_queue
from portal.runs.kinds.ticks import Tick, register_tick

KIND = "approvals.comments"
EVERY = timedelta(minutes=1)
QUIET = timedelta(minutes=5)
"""So long nobody has written when the mail goes."""
LONGEST = timedelta(minutes=20)
"""So long the first comment waits at most, however lively the discussion is."""
TOO_OLD = timedelta(days=2)
"""What waited so long is news to nobody: it is not mailed any more."""
_PROPOSALS_A_TURN = 100
_COMMENTS_A_MAIL = 50
_PEOPLE = 200


def register_comment_mails() -> None:
    """Tell the platform of the kind of mail and of the tick that sends it."""
    register_mail_kinds(MailKind(KIND, "Comments on proposals", may_be_muted=True))
    register_tick(Tick("approvals.comment_mails", EVERY, comments_tell))


def comments_tell(lake: str, *, now: datetime) -> int:
    """Mail the comments of a lake that nobody was told of; returns how many mails.

    Called again at once, or by two at a time, it writes nothing twice.
    """
    untold = ApprovalComment.objects.filter(lake=lake, notified_at=None)
    untold.filter(at__lte=now - TOO_OLD).update(notified_at=now)
    by_proposal = untold.order_by().values_list("kind", "object_id")
    spans = by_proposal.annotate(first=Min("at"), last=Max("at"))
    due = spans.filter(Q(last__lte=now - QUIET) | Q(first__lte=now - LONGEST))
    return sum(
        _tell(kind, proposal_id, now=now)
        for kind, proposal_id, _, _ in due.order_by("first")[:_PROPOSALS_A_TURN]
    )


@transaction.atomic
def _tell(kind_name: str, proposal_id: UUID, *, now: datetime) -> int:
    rows = ApprovalComment.objects.filter(kind=kind_name, object_id=proposal_id)
    mine = [
        one
        for one in rows.filter(notified_at=None).order_by("at", "pk")[:_COMMENTS_A_MAIL]
        if rows.filter(pk=one.pk, notified_at=None).update(notified_at=now)
    ]
    if not mine:
        return 0
    try:
        kind = get_proposal_kind(kind_name)
    except NotVisible:  # its area is not installed any more
        return 0
    lake = mine[0].lake
    day, once = day_of(now, get_lake(lake).zone), f"{KIND}.{mine[0].pk}"
    n_mails = 0
    for user, email, proposal in _readers(kind, proposal_id, lake):
        theirs = [one for one in mine if one.author != user.username]
        if theirs:
            name = user.username
            letter = _letter(kind, proposal, theirs, off=MutingLink(name, KIND, day))
            mail = letter_mail(letter, username=name)
            notice_queue(once, lake=lake, day=day, recipient=name, email=email, mail=mail, now=now)
            n_mails += 1
    return n_mails


def _readers(
    kind: ProposalKind[Any], proposal_id: UUID, lake: str
) -> list[tuple[User, str, Proposal]]:
    """Return who takes part, with their addresses and the proposal as each may see it."""
    every = kind.model._default_manager.select_related("approval")
    whole = every.filter(pk=proposal_id).first()
    if whole is None:
        return []
    addresses = people_reached(_taking_part(kind, whole))
    wanted = sorted(addresses.keys() - who_muted(KIND))[:_PEOPLE]
    found = []
    for user in User.objects.filter(username__in=wanted).order_by("username"):
        proposal = kind.visible(lake, user).filter(pk=proposal_id).first()
        if proposal is not None:
            found.append((user, addresses[user.username], proposal))
    return found


def _taking_part(kind: ProposalKind[Any], proposal: Proposal) -> set[str]:
    """Return who asked for a proposal, decided on it, or commented on it."""
    approval = proposal.approval
    stored = getattr(proposal, "requesters", None) or [getattr(proposal, "requested_by", "")]
    names = {*stored, *requesters_shown(approval, stored)}
    if approval is not None:
        names |= set(approval.decisions.values_list("user__username", flat=True))
    said = ApprovalComment.objects.filter(kind=kind.name, object_id=proposal.pk)
    return names | set(said.order_by().values_list("author", flat=True).distinct()[:_PEOPLE])


def _letter(
    kind: ProposalKind[Any],
    proposal: Proposal,
    comments: Sequence[ApprovalComment],
    *,
    off: MutingLink,
) -> Letter:
    authors = sorted({one.author for one in comments})
    who = authors[0] if len(authors) == 1 else f"{len(authors)} people"
    page = f"{settings.LAKEWARDEN_BASE_URL}{kind.url_of(proposal)}#discussion"
    return Letter(
        subject=f"{who} commented: {proposal.title}",
        intro=f"There is something new in the discussion of the {kind.title.lower()}: "
        f"{proposal.title}",
        rows=[Row(one.author, one.text, has_lines=True) for one in comments],
        url=page,
        url_label="Open the discussion",
        foot="You get this because you requested it, decided on it or commented on it. Turn such "
        f"mails off: {muting_url(off)}",
    )
