"""The inbox of approvals: what needs the person, what they asked for, and all that they may see."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from portal.approvals.comments import comment_add
from portal.approvals.inbox import InboxQuery, Tab, inbox_page
from portal.approvals.inbox_rows import InboxRow
from portal.approvals.proposals import get_proposal_kind
from portal.approvals.waiting import n_needs_me
from portal.ui.frame.context import current_lake, person
from portal.ui.inbox import INBOX, TAB_WORDS, Asked, cursors_of, place_at, with_inbox
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.keyset import SIZE, SIZE_CAP
from portal.ui.lists.tables import Column, Table

COLUMNS = (
    Column(
        key="title",
        title="What is asked",
        kind="template",
        template="portal/_inbox_title.html",
        is_wide=True,
    ),
    Column(key="state", title="State", kind="state"),
    Column(
        key="effect",
        title="Effect",
        kind="template",
        template="portal/_inbox_effect.html",
    ),
    Column(key="requesters", title="Requested by", kind="template", template="portal/_names.html"),
    Column(
        key="progress_words",
        title="Approvals",
        kind="template",
        template="portal/_inbox_progress.html",
    ),
    Column(key="waits_for_words", title="Waits for"),
    Column(key="expires_at", title="Expires", kind="ago"),
    Column(key="waiting_since", title="Since", kind="ago"),
)
EXPORTS = tuple(
    Column(key=key, title=key)
    for key in (
        "id", "kind", "title", "state", "reason", "requesters", "effect.words", "effect.n_items",
        "effect.n_bytes", "n_given", "n_needed", "waits_for", "waiting_since", "expires_at", "url",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A page of the inbox as the list's templates take it."""

    rows: list[InboxRow]
    next_cursor: str = ""
    previous_cursor: str = ""

    @property
    def has_next(self) -> bool:
        """Whether rows follow this page."""
        return bool(self.next_cursor)

    @property
    def has_previous(self) -> bool:
        """Whether rows come before this page."""
        return bool(self.previous_cursor)


@require_GET
def approvals(request: HttpRequest) -> HttpResponseBase:
    """List what waits, over every kind of proposal."""
    lake, user, now = current_lake(request), person(request), timezone.now()
    asked = Asked(request.GET)
    query = InboxQuery(user, lake, asked.wanted, now)
    if request.GET.get("format") == "csv":
        rows = every_row(query) if asked.is_valid else iter(())
        return stream_csv(rows, EXPORTS, filename=f"approvals-{lake}.csv")
    page, broken = Shown([]), []
    if asked.is_valid:
        after, before = (place_at(request.GET.get(name, "")) for name in ("after", "before"))
        found = inbox_page(query, size=SIZE, after=after, before=before)
        page, broken = Shown(found.rows, *cursors_of(found)), found.broken
    context: dict[str, Any] = {
        "filter": asked,
        "page": page,
        "table": Table(COLUMNS, page.rows, "Approvals"),
        "tabs": [(tab, word, tab == asked.wanted.tab) for tab, word in TAB_WORDS.items()],
        "tab": asked.wanted.tab,
        "n_needs_me": n_needs_me(user, lake, now=now),
        "broken": [kind.title for kind in broken],
        "may_decide_much": user.is_lake_admin_of(lake),
        "needs_me": Tab.NEEDS_ME,
    }
    return render(request, "portal/approvals.html", context)


def every_row(query: InboxQuery) -> Iterator[InboxRow]:
    """Yield every row of a filter, read page by page."""
    after = None
    while True:
        page = inbox_page(query, size=SIZE_CAP, after=after)
        yield from page.rows
        if not page.has_next:
            return
        after = page.rows[-1].place


@require_GET
def ranges(request: HttpRequest, kind: str, proposal_id: UUID, db: str, table: str) -> HttpResponse:
    """Show the partition ranges of one table of a proposal: for its row to unfold, or alone."""
    user, its = person(request), get_proposal_kind(kind)
    found = its.get_for_user(proposal_id, user=user)
    context = {
        "ranges": its.ranges_for_user(found, db, table, user=user),
        "db": db,
        "table": table,
        "url": its.url_of(found),
        "title": its.title,
    }
    is_part = request.headers.get("HX-Request") == "true"
    return render(request, "ui/_ranges.html" if is_part else "portal/ranges.html", context)


@require_POST
def comment(request: HttpRequest, kind: str, proposal_id: UUID) -> HttpResponseRedirect:
    """Write a comment on a proposal, and show it there."""
    user, query = person(request), request.POST.get(INBOX, "")
    comment_add(kind, proposal_id, user=user, text=request.POST.get("text", ""), now=timezone.now())
    found = get_proposal_kind(kind).get_for_user(proposal_id, user=user)
    url = get_proposal_kind(kind).url_of(found)
    messages.success(request, "Your comment was added.")
    there = with_inbox(url, query, request.GET) if query else url
    return HttpResponseRedirect(f"{there}#discussion")
