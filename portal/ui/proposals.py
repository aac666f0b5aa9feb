"""What the page of every kind of proposal has: who decides, and the steps people take."""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from portal.access.fresh import authenticated_at, require_fresh
from portal.access.models import User
from portal.access.registry import Card
from portal.approvals.domain import DecisionInput
from portal.approvals.inbox import InboxQuery, first_of, neighbours
from portal.approvals.inbox_rows import inbox_rows
from portal.approvals.models import Proposal
from portal.approvals.proposals import ProposalKind
from portal.approvals.selectors import decisions_of, requesters_shown
from portal.ui.frame.addresses import back_or
from portal.ui.frame.context import lake_or_none, person
from portal.ui.inbox import INBOX, Asked, inbox_query, with_inbox

P = TypeVar("P", bound=Proposal)
View = Callable[..., HttpResponseBase]


def proposal_context(
    kind: ProposalKind[P], found: P, user: User, *, decide: str = ""
) -> dict[str, Any]:
    """Return what `ui/proposal.html` shows; `decide` names the URL that takes a decision."""
    stored = getattr(found, "requesters", [])
    return {
        "proposal": found,
        "proposal_kind": kind,
        "decide_url": reverse(decide, args=[found.pk]) if decide else "",
        "may": kind.steps(found, user, now=timezone.now()),
        "decisions": decisions_of(found.approval),
        "requesters": requesters_shown(found.approval, stored),
        "waits_for": _waits_for(kind, found, user),
        "changes": kind.changes(found, user),
    }


def _waits_for(kind: ProposalKind[P], found: P, user: User) -> str:
    """Name who may still approve it; nobody where it does not wait for an approval."""
    if found.state != "PENDING":
        return ""
    (row,) = inbox_rows([(kind, found)], user, now=timezone.now())
    return row.waits_for_words


def decide_page(
    kind: ProposalKind[P],
    url_of: Callable[[P], str],
    *,
    decision: str = "",
    done: str = "Your decision was recorded.",
) -> View:
    """Return the view that takes a person's decision; `decision` is that of the address, if any."""

    @require_POST
    @require_fresh
    def view(request: HttpRequest, **key: UUID) -> HttpResponseBase:
        """Approve or reject exactly what the page showed."""
        posted = request.POST.get("decision") or request.POST.get("verdict", "")
        answer = DecisionInput(
            decision=decision or posted,
            reason=request.POST.get("reason", ""),
            digest=request.POST.get("digest", ""),
            typed=request.POST.get("typed", ""),
        )
        found = kind.decide(
            *key.values(),
            user=person(request),
            answer=answer,
            authenticated_at=authenticated_at(request),
            now=timezone.now(),
        )
        return _stayed(request, kind, found, url_of(found), done=done)

    return view


def _stayed(
    request: HttpRequest, kind: ProposalKind[P], found: P, url: str, *, done: str
) -> HttpResponseRedirect:
    """Return to the proposal, saying what was done and which one of the list comes next."""
    query = request.POST.get(INBOX, "")
    wanted = Asked(QueryDict(query)).wanted
    around = InboxQuery(person(request), kind.lake_of(found), wanted, timezone.now())
    _, following = neighbours(around, kind, found)
    following = following or first_of(around)
    if following is None or following.url == kind.url_of(found):
        messages.success(request, done)
    else:
        link = with_inbox(following.url, query or inbox_query({}), request.GET)
        words = '{} Next: <a href="{}">{}</a>'
        messages.success(request, format_html(words, done, link, following.title))
    return HttpResponseRedirect(with_inbox(url, query, request.GET) if query else url)


def reasoned_page(step: Callable[..., P], url_of: Callable[[P], str], *, done: str) -> View:
    """Return the view of a step that a person takes with a reason, such as withdrawing."""

    @require_POST
    def view(request: HttpRequest, **key: UUID) -> HttpResponseBase:
        """Take the step, and show the proposal, or the page that the form names as `next`."""
        reason = request.POST.get("reason", "")
        found = step(*key.values(), user=person(request), reason=reason, now=timezone.now())
        messages.success(request, done)
        return HttpResponseRedirect(back_or(request, url_of(found)))

    return view


def decide_card(
    kind: ProposalKind[P],
    *,
    title: str,
    icon: str,
    order: int,
    detail: Callable[[list[P]], str] = lambda waiting: "",
) -> Callable[[HttpRequest], Card | None]:
    """Return the home card of what waits for a person's decision.

    One leads to its page; several to the inbox, and the longest wait of them to its page.
    """

    def card(request: HttpRequest) -> Card | None:
        lake = lake_or_none(request)
        waiting = kind.to_decide(lake, person(request), now=timezone.now()) if lake else []
        if not lake or not waiting:
            return None
        listed = {"lake": lake, "kind": kind.name}
        first = with_inbox(kind.url_of(waiting[0]), inbox_query(listed), listed)
        is_one = len(waiting) == 1
        return Card(
            kind="waiting",
            title=title,
            value=f"{len(waiting):,}",
            url=first if is_one else f"{reverse('ui:approvals')}?{urlencode(listed)}",
            next_url="" if is_one else first,
            detail=detail(waiting),
            icon=icon,
            tone="warn",
            order=order,
        )

    return card
