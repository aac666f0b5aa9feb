"""Takes the answer of the bars of Expiring data and Tables, and leads back to where one was."""

from datetime import datetime

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from lifecycle.answers.domain import MOST_TABLES, Answer, AnswerKind, Result
from lifecycle.answers.selectors.choosing import (
    names_in_filter,
    names_of_rows,
    open_names,
)
from lifecycle.answers.selectors.shown import Name
from lifecycle.answers.services.bulk import Chosen, tables_answer
from lifecycle.core.ui.links import list_url
from portal.access.models import User
from portal.lake.errors import RuleViolation
from portal.runs.models import Run
from portal.ui.frame.addresses import own_address
from portal.ui.frame.context import current_lake, person
from portal.ui.tables.bulk import TICKED, chosen_tables


class AnswersForm(forms.Form):
    """One answer; beside it `rows` are the ticked ones, or `everything` means all of `filter`.

    `answer` is KEEP-30, LET_GO and so on: each button of the bar says one.
    """

    seen_at = forms.DateTimeField(widget=forms.HiddenInput())
    answer = forms.CharField(widget=forms.HiddenInput())
    to = forms.CharField(label="New owner (user name)", max_length=128, required=False)
    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        error_messages={"required": "Enter a reason; it is kept in the history."},
        widget=forms.Textarea(attrs={"class": "form-control", "rows": 3}),
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput())

    def clean_answer(self) -> tuple[AnswerKind, int]:
        """Read the answer and, of KEEP, the days."""
        kind, _, days = self.cleaned_data["answer"].partition("-")
        try:
            return AnswerKind(kind), int(days or 0)
        except ValueError:
            raise forms.ValidationError("This is no answer.") from None


@require_POST
def answers(request: HttpRequest) -> HttpResponse:
    """Answer for the chosen tables; what is wrong for all of them is shown on the form again."""
    lake, user, form = current_lake(request), person(request), AnswersForm(request.POST)
    if not form.is_valid():
        return _shown_again(request, form)
    data = form.cleaned_data
    kind, days = data["answer"]
    try:
        names = _names(request, lake, user)
        answer = Answer(
            kind, data["reason"].strip(), days, data["to"].strip() if _gives(kind) else ""
        )
        seen_at: datetime = data["seen_at"]
        chosen = Chosen(lake, names, seen_at)
        result, run = tables_answer(chosen, answer, user=user, now=timezone.now())
    except RuleViolation as error:
        field = str(error.fields.get("field", ""))
        form.add_error(field if field in form.fields else None, error.message)
        return _shown_again(request, form)
    _tell(request, result, run, n_chosen=len(names))
    back = data["next"]
    return HttpResponseRedirect(own_address(request, back) if back else list_url("expiring", lake))


def _gives(kind: AnswerKind) -> bool:
    return kind is AnswerKind.HAND_OVER


def _is_of_tables(request: HttpRequest) -> bool:
    """Whether the tables were chosen in the list of all tables, not in Expiring data."""
    return request.POST.get("list") == "tables"


def _names(request: HttpRequest, lake: str, user: User) -> list[Name]:
    if _is_of_tables(request):
        names = chosen_tables(request, lake, user, at_most=MOST_TABLES)
        every = bool(request.POST.get("everything"))
        return open_names(lake, names, user=user) if every else names
    if request.POST.get("everything"):
        return names_in_filter(lake, QueryDict(request.POST.get("filter", "")), user=user)
    keys = request.POST.getlist("rows")
    names = names_of_rows(lake, keys, user=user)
    if keys and len(names) < len(set(keys)):
        raise RuleViolation(
            "answers.gone",
            f"{len(set(keys)) - len(names):,} of the ticked rows are of a scan that is not kept "
            "any more. Reload the list and tick them again.",
        )
    return names


def _tell(request: HttpRequest, result: Result, run: Run | None, *, n_chosen: int) -> None:
    if run is not None:
        url = reverse("ui:run", args=[run.pk])
        messages.info(
            request,
            format_html(
                '{} tables are being answered. <a href="{}">Progress and result</a>',
                f"{n_chosen:,}",
                url,
            ),
        )
        return
    tell = messages.success if result.n_done and not result.n_refused else messages.warning
    tell(request, result.words)


def _shown_again(request: HttpRequest, form: AnswersForm) -> HttpResponse:
    """Show an answer that cannot be taken as it is: every value as sent, and what is wrong."""
    posted = request.POST
    if not posted.get("answer", "").startswith(AnswerKind.HAND_OVER):
        form.fields.pop("to")
    ticked = TICKED if _is_of_tables(request) else "rows"
    context = {
        "form": form,
        "list": "tables" if _is_of_tables(request) else "",
        "ticked": ticked,
        "rows": posted.getlist(ticked),
        "everything": bool(posted.get("everything")),
        "filter_query": posted.get("filter", ""),
        "back": own_address(request, posted.get("next", "")),
        "words": said_words(posted.get("answer", ""), n_rows=len(posted.getlist(ticked))),
    }
    return render(request, "lifecycle/answers_again.html", context, status=400)


def said_words(said: str, *, n_rows: int, noun: str = "table") -> str:
    """Return the answer of a button in words, with how many are ticked."""
    kind, _, days = said.partition("-")
    words: dict[str, str] = {
        AnswerKind.KEEP: f"Keep {days} days",
        AnswerKind.KEEP_FOREVER: "Keep for ever",
        AnswerKind.LET_GO: "Let it go",
        AnswerKind.HAND_OVER: "Hand over",
    }
    many = "" if n_rows == 1 else "s"
    return f"{words.get(kind, 'No answer')}: {n_rows:,} {noun}{many} ticked."
