"""Page of the log that the driver of a run wrote, where this host captured it."""

import re
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from portal.runs.kinds.secrets import job_secrets
from portal.runs.models import Run
from portal.runs.records.driver_logs import (
    DriverLines,
    attempts_captured,
    driver_lines,
    driver_log_whole,
)
from portal.runs.results.driver_logs_removal import driver_logs_kept, is_log_kept
from portal.settings.driver_logs import PLACE
from portal.ui.frame.context import person
from portal.ui.selectors import get_run_for_user

TEXT_CHARS = 200
_APPLICATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class DriverLogFilter(forms.Form):
    """Lines of a driver's log by what they say, of one attempt, before a place in the file."""

    text = forms.CharField(label="Text contains", required=False, max_length=TEXT_CHARS)

    def __init__(self, run: Run, asked: QueryDict) -> None:
        super().__init__(asked)
        self.run = run
        self.place = _Place(asked)
        attempts = [str(one) for one in range(1, max(run.epoch, 1) + 1)]
        self.fields["attempt"] = forms.TypedChoiceField(
            choices=[("", "Latest"), *((one, one) for one in attempts)],
            widget=forms.HiddenInput if len(attempts) == 1 else forms.Select,
            coerce=int,
            label="Attempt",
            required=False,
        )

    @property
    def form(self) -> "DriverLogFilter":
        """What the templates of filters read."""
        return self

    @property
    def is_on(self) -> bool:
        """Whether lines are left out."""
        return bool(self.data.get("text"))

    @property
    def attempt_shown(self) -> int:
        """The attempt whose log is read."""
        return int(self.cleaned_data.get("attempt") or self.run.epoch) if self.is_valid() else 0

    def problems(self) -> dict[str, Any]:
        """Return what is wrong with the values, by name."""
        return {**self.errors, **self.place.errors}

    def found(self) -> DriverLines:
        """Return the lines; none where a value is not valid.

        Raises:
            PortalError: the secrets of the run cannot be read, so that nothing may be shown.
        """
        if self.problems():
            return DriverLines([], None)
        return driver_lines(
            self.run,
            self.attempt_shown,
            before=self.place.cleaned_data["before"],
            text=self.cleaned_data["text"],
            secrets=job_secrets(self.run),
        )


class _Place(forms.Form):
    before = forms.IntegerField(required=False, min_value=0, max_value=2**62)


@require_GET
def driver_log(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Show the end of the log, or what is before a place of it; send it whole as a text file."""
    run = get_run_for_user(run_id, person(request))
    chosen = DriverLogFilter(run, request.GET)
    if request.GET.get("format") == "text" and not chosen.problems():
        return _whole(run, chosen.attempt_shown)
    found = chosen.found()
    context = {
        "run": run,
        "filter": chosen,
        "lines": found.lines,
        "older": found.older,
        "attempts": attempts_captured(run),
        "attempt": chosen.attempt_shown,
        "log_days": lost_log_days(run),
    }
    return render(request, "portal/driver_log.html", context)


def driver_log_url(run: Run) -> str:
    """Return the address of the page; empty where this host has no log of a driver of the run."""
    return reverse("ui:run-driver-log", args=[run.pk]) if attempts_captured(run) else ""


def lost_log_days(run: Run) -> int:
    """Return for how many days logs are kept where that of this run is kept no longer, else 0."""
    has_ended = run.epoch > 0 and not is_log_kept(run, now=timezone.now())
    return driver_logs_kept().days if has_ended and not attempts_captured(run) else 0


def cluster_log_url(run: Run) -> str:
    """Return where the cluster shows the driver's log; empty where no cluster ran it, or unknown.

    The id is what the job said: only one that is of an id's form becomes a part of an address.
    """
    template, application = settings.LAKEWARDEN_DRIVER_LOG_URL, run.application_id
    if not template or application.startswith("local-") or not _APPLICATION.fullmatch(application):
        return ""
    return str(template).replace(PLACE, application)


def _whole(run: Run, attempt: int) -> StreamingHttpResponse:
    lines = driver_log_whole(run, attempt, secrets=job_secrets(run))
    answer = StreamingHttpResponse(lines, content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{attempt}-driver.log"'
    return answer
