"""Pages of mails: recipient, acceptance by the mail server, and the reason of a failure."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from portal.notices.models import Notice, NoticeState
from portal.notices.muting import mails_mute, mutable_kinds
from portal.notices.selectors import get_notice_for_user, notice_counts, notices_for_user
from portal.notices.services import notice_retry
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import MailFilter, filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table

ORDERS = {"-queued": ("-queued_at",), "queued": ("queued_at",)}


def _url(row: Notice) -> str:
    return reverse("ui:mail", args=[row.pk])


COLUMNS = (
    Column(key="queued_at", title="When", kind="ago", sort="queued"),
    Column(key="kind_words", title="Kind"),
    Column(key="recipient", title="To"),
    Column(key="subject", title="Subject", url=_url, is_wide=True),
    Column(key="state", title="State", kind="state"),
    Column(key="error", title="What went wrong"),
    Column(key="attempts", title="Tries", kind="count", shown_from="desktop"),
    Column(
        key="n_repeats",
        title="Repeats",
        kind="count",
        shown_from="desktop",
        help="Sent again because the mail server's answer was lost; it may have come twice.",
    ),
    Column(key="day", title="Day", kind="day"),
    Column(key="sent_at", title="Sent", kind="ago"),
)
EXPORTS = tuple(
    Column(key=key, title=key)
    for key in (
        "id", "kind", "kind_words", "day", "recipient", "email", "subject", "state", "attempts",
        "n_repeats", "queued_at", "sent_at", "message_id", "error",
    )
)  # fmt: skip


@require_GET
def mails(request: HttpRequest) -> HttpResponseBase:
    """List the mails that the person may see, newest first."""
    lake, user = current_lake(request), person(request)
    visible = notices_for_user(user, lake)
    chosen = MailFilter(request.GET, queryset=visible)
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by(*ORDERS.get(request.GET.get("sort", ""), ("-queued_at",)), "pk")
        shown = ordered.defer("text", "html").iterator(chunk_size=2000)
        return stream_csv(shown, EXPORTS, filename=f"mails-{lake}.csv")
    page = keyset_page(rows.defer("text", "html"), request.GET, orders=ORDERS)
    table = Table(COLUMNS, page.rows, "Mails", orders=tuple(ORDERS), sort=page.sort)
    context = {
        "filter": chosen,
        "page": page,
        "table": table,
        "sees_all": user.is_lake_staff_of(lake),
        "counts": notice_counts(visible),
        "lake": lake,
    }
    return render(request, "portal/mails.html", context)


@require_GET
def mail(request: HttpRequest, notice_id: UUID) -> HttpResponseBase:
    """Show one mail as its text part says it."""
    user = person(request)
    found = get_notice_for_user(notice_id, user)
    may_retry = user.is_lake_staff_of(found.lake) and found.state == NoticeState.FAILED
    return render(request, "portal/mail.html", {"mail": found, "may_retry": may_retry})


@require_POST
def muting(request: HttpRequest) -> HttpResponseRedirect:
    """Turn off the kinds of mail that the person left unticked, and on the others."""
    wanted = set(request.POST.getlist("kinds"))
    off = [kind.name for kind in mutable_kinds() if kind.name not in wanted]
    mails_mute(person(request), off)
    messages.success(request, "Your choice of mails was saved.")
    return HttpResponseRedirect(f"{reverse('ui:profile')}#mails")


@require_POST
def mail_retry(request: HttpRequest, notice_id: UUID) -> HttpResponseRedirect:
    """Have a mail that failed sent again, to another address where one is given."""
    email = request.POST.get("email", "")
    notice_retry(notice_id, user=person(request), email=email, now=timezone.now())
    messages.success(request, "It is tried again now; this page shows the result.")
    return HttpResponseRedirect(reverse("ui:mail", args=[notice_id]))
