"""Template tags of the inbox and of the pages that are opened from it."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.http import QueryDict
from django.template import Context
from django.utils import timezone

from portal.access.fresh import is_fresh
from portal.approvals.comments import comments_of
from portal.approvals.inbox import InboxQuery, Neighbour, neighbours
from portal.approvals.inbox_rows import InboxRow
from portal.approvals.models import Proposal
from portal.approvals.proposals import ProposalKind
from portal.ui.frame.context import person
from portal.ui.inbox import INBOX, Asked, inbox_query, with_inbox

register = template.Library()


@register.simple_tag(takes_context=True)
def inbox_link(context: Context, url: str) -> str:
    """Return the address of a proposal that remembers the list it is opened from."""
    return with_inbox(url, inbox_query(context["request"].GET), context["request"].GET)


@register.simple_tag(takes_context=True)
def login_is_fresh(context: Context) -> bool:
    """Return whether a decision would be taken without the password first."""
    return is_fresh(context["request"], timezone.now())


@register.simple_tag
def approval_marks(row: InboxRow) -> str:
    """Show a mark for each approval: full where it was given."""
    given = min(row.n_given, row.n_needed)
    return "●" * given + "○" * (row.n_needed - given)


@register.inclusion_tag("ui/_inbox_turn.html", takes_context=True)
def inbox_turn(context: Context, kind: ProposalKind[Any], proposal: Proposal) -> Mapping[str, Any]:
    """Show the way to the next and the previous proposal of the list, where it came from one."""
    request = context["request"]
    query = request.GET.get(INBOX, "")
    if not query:
        return {}
    wanted = Asked(QueryDict(query)).wanted
    around = InboxQuery(person(request), kind.lake_of(proposal), wanted, timezone.now())
    before, after = neighbours(around, kind, proposal)
    return {
        "previous": _linked(before, query, request.GET),
        "next": _linked(after, query, request.GET),
        "query": query,
        "lake": request.GET.get("lake", ""),
    }


def _linked(one: Neighbour | None, query: str, params: Mapping[str, str]) -> Mapping[str, str]:
    if one is None:
        return {}
    return {"title": one.title, "url": with_inbox(one.url, query, params)}


@register.inclusion_tag("ui/_discussion.html", takes_context=True)
def discussion(context: Context, kind: ProposalKind[Any], proposal: Proposal) -> Mapping[str, Any]:
    """Show what people wrote about a proposal, and let the reader write."""
    return {
        "comments": comments_of(kind, proposal),
        "kind": kind,
        "proposal": proposal,
        "csrf_token": context.get("csrf_token"),
        "frame": context.get("frame"),
        "inbox": context["request"].GET.get(INBOX, ""),
    }
