"""The page behind a link of a notice: the answer filled in, and one button that gives it."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from lifecycle.answers.domain import Answer, AnswerKind, Given, MailLink
from lifecycle.answers.selectors.shown import answers_since, notice_written_at
from lifecycle.answers.services.bulk import Chosen, tables_answer
from lifecycle.answers.services.links import link_read
from lifecycle.core.ui.links import list_url, table_url
from lifecycle.inventory.selectors.dropped import take_off_dropped
from lifecycle.inventory.selectors.findings import get_table_for_user
from lifecycle.inventory.selectors.policy import may_answer
from lifecycle.models import TableFinding
from lifecycle.policies.services.extensions import extension_offer, near_due_on
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.people.search import shown_name
from portal.ui.frame.context import person

PAGE = "lifecycle/answer_link.html"


class LinkForm(forms.Form):
    """The answer's reason, filled in, and when the page was loaded."""

    seen_at = forms.DateTimeField(widget=forms.HiddenInput())
    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        error_messages={"required": "Enter a reason; it is kept in the history."},
        widget=forms.Textarea(attrs={"class": "form-control", "rows": 2}),
    )


@require_http_methods(["GET", "POST"])
@never_cache
def answer_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show what a link of a mail would answer (GET never acts), and answer it (POST).

    Raises:
        RuleViolation, NotVisible, NotAllowed: the link is not good (any more), or not theirs.
    """
    user, now = person(request), timezone.now()
    link = link_read(token)
    found = _open(link, user, now=now)
    given = _given(link)
    if given:
        return _page(request, link, found, given=given, status=409 if _posts(request) else 200)
    if _posts(request):
        return _answered(request, link, found, now=now)
    form = LinkForm(initial={"seen_at": now.isoformat(), "reason": _reason(link)})
    return _page(request, link, found, form=form)


def _posts(request: HttpRequest) -> bool:
    return request.method == "POST"


def _open(link: MailLink, user: User, *, now: datetime) -> TableFinding:
    """Return the table that a link is about, for who may answer there by their own right."""
    today = day_of(now, get_lake(link.lake).zone)
    if today > link.last_day:
        raise RuleViolation(
            "answers.link_expired",
            f"This link of {link.day} was good until {link.last_day}. Answer on the page of "
            f"{link.name}, or by the newest notice.",
        )
    try:
        found = get_table_for_user(link.lake, link.db, link.table, user=user)
    except NotVisible as error:
        whose = "" if link.username == user.username else f" {_whose(link, user)}"
        raise NotVisible(
            error.code, f"{link.name} is not there any more, or it is not yours to see.{whose}"
        ) from None
    if not may_answer(user, found):
        raise NotAllowed(
            "answers.not_yours",
            f"You may see {link.name}, but only its owners or an admin answer for it. "
            f"{_whose(link, user)}",
        )
    take_off_dropped([found])
    return found


def _whose(link: MailLink, user: User) -> str:
    if link.username == user.username:
        return ""
    return (
        f"The mail was written to {shown_name(link.username)} ({link.username}); you are signed "
        f"in as {user.username}."
    )


def _given(link: MailLink) -> list[Given]:
    name = (link.db, link.table)
    since = notice_written_at(link)
    return answers_since(link.lake, since=since, name=name).get(name, [])


def _reason(link: MailLink) -> str:
    return f"Answered from the notice of {link.day}"


def _answered(
    request: HttpRequest, link: MailLink, found: TableFinding, *, now: datetime
) -> HttpResponse:
    form = LinkForm(request.POST)
    if not form.is_valid():
        return _page(request, link, found, form=form, status=400)
    answer = Answer(link.kind, form.cleaned_data["reason"].strip(), days=link.days)
    seen_at: datetime = form.cleaned_data["seen_at"]
    chosen = Chosen(link.lake, [(link.db, link.table)], seen_at)
    result, _ = tables_answer(chosen, answer, user=person(request), now=now)
    if result.n_refused:
        form.add_error(None, result.tables[0].message)
        return _page(request, link, found, form=form, status=409)
    messages.success(request, result.words)
    return HttpResponseRedirect(table_url(link.lake, link.db, link.table))


def _page(
    request: HttpRequest, link: MailLink, found: TableFinding, *, status: int = 200, **shown: Any
) -> HttpResponse:
    user, now = person(request), timezone.now()
    offer = None
    if link.kind is AnswerKind.KEEP:
        offer = extension_offer(found, "", near_due_on(found), days=link.days, now=now)
    context = {
        "link": link,
        "found": found,
        "generation": found.generation,
        "offer": offer,
        "is_due": offer is not None or bool(found.n_clean_now or found.n_still_read),
        "whose": _whose(link, user),
        "is_admin": user.is_lake_admin_of(link.lake),
        "table_url": table_url(link.lake, link.db, link.table),
        "list_url": list_url("expiring", link.lake, show="week"),
        **shown,
    }
    return render(request, PAGE, context, status=status)
