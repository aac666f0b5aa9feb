"""Actions of operators on a cluster: try, add, edit, reload, pause, limit and remove."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from portal.access.fresh import is_fresh, require_fresh
from portal.access.roles.domain import ALL_LAKES
from portal.lake.errors import PortalError, RuleViolation, StaleState
from portal.ui.frame.context import person
from refresh.clusters.selectors.clusters import check_lake_staff, get_cluster_for_user
from refresh.clusters.services.clusters import (
    Actor,
    cluster_add,
    cluster_limits,
    cluster_pause,
    cluster_read_ask,
    cluster_remove,
    cluster_resume,
)
from refresh.clusters.services.editing import cluster_edit
from refresh.clusters.services.fe_client import BRIEF
from refresh.clusters.services.trial import ClusterParams, TrialReport, cluster_retest, cluster_test
from refresh.clusters.ui.pages import cluster_url
from refresh.models import Cluster
from refresh.worker.domain.scheduling import Limits

_HELP = {
    "name": "a-z, 0-9 and -, at most 32; it is in addresses and in the record",
    "addresses": "host:port of the query port (9030), one a line; one is enough, the rest is read",
    "user": "with OPERATE on the system, ALTER and SELECT on the tables",
    "password_file": "absolute path of a 0600 file in the portal's directory of cluster passwords",
}


class ReachForm(forms.Form):
    """How a cluster is reached."""

    addresses = forms.CharField(
        label="Front ends",
        max_length=6000,
        help_text=_HELP["addresses"],
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "fe1.example.org:9030"}),
    )
    user = forms.CharField(label="User", max_length=128, help_text=_HELP["user"], strip=False)
    password_file = forms.CharField(
        label="Password file", max_length=1024, help_text=_HELP["password_file"], strip=False
    )

    def wish(self) -> ClusterParams:
        """Return what was typed."""
        data = self.cleaned_data
        places = data["addresses"].replace(",", "\n").splitlines()
        return ClusterParams(tuple(places), data["user"], data["password_file"])


class ClusterForm(ReachForm):
    """A cluster to take in."""

    name = forms.CharField(label="Name", max_length=32, help_text=_HELP["name"])
    field_order = ("name",)


class EditForm(ReachForm):
    """The same of a cluster that is kept, with the version that the page showed."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    @classmethod
    def of(cls, cluster: Cluster) -> "EditForm":
        """Show how a cluster is reached now."""
        return cls(
            initial={
                "addresses": "\n".join(cluster.addresses),
                "user": cluster.user,
                "password_file": cluster.password_file,
                "version": cluster.version,
            }
        )


class LimitsForm(forms.Form):
    """How many statements may run at once."""

    per_fe = forms.IntegerField(min_value=0, max_value=10_000)
    per_catalog = forms.IntegerField(min_value=0, max_value=10_000)
    large_table_window = forms.CharField(required=False, max_length=200)


@require_http_methods(["GET", "POST"])
def cluster_add_view(request: HttpRequest) -> HttpResponse:
    """Try a cluster out (do=test), then take it in (do=add)."""
    check_lake_staff(person(request))
    form = ClusterForm(request.POST if request.method == "POST" else None)
    report: TrialReport | None = None
    if form.is_valid():
        try:
            if request.POST.get("do") == "add":
                return _add(request, form)
            report = cluster_test(form.wish(), reach=_actor(request).reach, budget=BRIEF)
        except PortalError as error:
            form.add_error(None, error.message)
    status = 400 if request.method == "POST" and form.errors else 200
    context: dict[str, Any] = {"form": form, "report": report}
    return render(request, "refresh/cluster_add.html", context, status=status)


@require_http_methods(["GET", "POST"])
def cluster_edit_view(request: HttpRequest, name: str) -> HttpResponse:
    """Try other addresses or another login out (do=test), then keep them (do=keep)."""
    found = _found(request, name)
    form = EditForm(request.POST) if request.method == "POST" else EditForm.of(found)
    report: TrialReport | None = None
    status = 400 if form.errors else 200
    if form.is_valid():
        try:
            if request.POST.get("do") == "keep":
                return _edit(request, found, form)
            reach = _actor(request).reach
            report = cluster_retest(found, form.wish(), reach=reach, budget=BRIEF)
        except PortalError as error:
            form.add_error(None, error.message)
            status = 409 if isinstance(error, StaleState) else 400
    context: dict[str, Any] = {"form": form, "report": report, "found": found}
    return render(request, "refresh/cluster_edit.html", context, status=status)


@require_POST
def read_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Have the worker read a cluster again."""
    found = _found(request, name)
    cluster_read_ask(found, by=_actor(request), now=timezone.now())
    return HttpResponseRedirect(cluster_url(found))


@require_POST
def pause_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Send nothing to a cluster any more."""
    found, said = _found(request, name), request.POST.get("reason", "")
    cluster_pause(found, by=_actor(request), reason=said, now=timezone.now())
    messages.success(request, "Paused: nothing more is sent to it. What changes is kept.")
    return HttpResponseRedirect(cluster_url(found))


@require_POST
def resume_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Go on with a cluster."""
    found, said = _found(request, name), request.POST.get("reason", "")
    cluster_resume(found, by=_actor(request), reason=said, now=timezone.now())
    messages.success(request, "Resumed; what waited is sent now.")
    return HttpResponseRedirect(cluster_url(found))


@require_POST
def limits_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Say how many statements may run at once."""
    found, form = _found(request, name), LimitsForm(request.POST)
    if not form.is_valid():
        raise RuleViolation("refresh.limits", "Give two whole numbers, and hours or nothing.")
    limits = Limits(form.cleaned_data["per_fe"], form.cleaned_data["per_catalog"])
    hours, by = form.cleaned_data["large_table_window"], _actor(request)
    cluster_limits(found, limits, hours=hours, by=by, now=timezone.now())
    messages.success(request, "The limits are kept; what runs goes on to its end.")
    return HttpResponseRedirect(cluster_url(found))


@require_POST
@require_fresh
def remove_view(request: HttpRequest, name: str) -> HttpResponse:
    """Return a cluster up."""
    found = _found(request, name)
    cluster_remove(
        found,
        by=_actor(request),
        typed=request.POST.get("typed", ""),
        reason=request.POST.get("reason", ""),
        now=timezone.now(),
    )
    messages.success(request, f"{found.name} was removed; the record keeps who did it and why.")
    return redirect("refresh:clusters")


def _actor(request: HttpRequest) -> Actor:
    return Actor.of(person(request), lake=ALL_LAKES, is_fresh=is_fresh(request, timezone.now()))


def _add(request: HttpRequest, form: ClusterForm) -> HttpResponseRedirect:
    made = cluster_add(
        form.cleaned_data["name"],
        form.wish(),
        by=_actor(request),
        now=timezone.now(),
        budget=BRIEF,
    )
    messages.success(request, f"{made.name} is added and kept fresh from now on.")
    return HttpResponseRedirect(cluster_url(made))


def _edit(request: HttpRequest, found: Cluster, form: EditForm) -> HttpResponseRedirect:
    cluster_edit(
        found,
        form.wish(),
        version=form.cleaned_data["version"],
        by=_actor(request),
        now=timezone.now(),
        budget=BRIEF,
    )
    messages.success(request, f"{found.name} has the new connection; its history is kept.")
    return HttpResponseRedirect(cluster_url(found))


def _found(request: HttpRequest, name: str) -> Cluster:
    return get_cluster_for_user(name, user=person(request))
