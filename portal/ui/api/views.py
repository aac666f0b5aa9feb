"""API of runs, the audit record and the emergency stop."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from portal.health import health_now
from portal.lake.errors import NotVisible
from portal.notices.kinds import mail_kinds
from portal.notices.muting import mails_mute, muted_by
from portal.notices.selectors import get_notice_for_user, notices_for_user
from portal.notices.services import notice_retry
from portal.runs.kinds.hours import hours_wait, working_hours
from portal.runs.records.driver_logs import attempts_captured
from portal.runs.requests.selectors import run_waits
from portal.runs.requests.services import run_cancel
from portal.safety.models import EmergencyStop
from portal.safety.selectors import (
    emergency_stop_state,
    emergency_stop_steps,
    release_is_pending,
)
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import (
    AuditEventSerializer,
    DriverLogSerializer,
    EmergencyStopChangeSerializer,
    EmergencyStopSerializer,
    HealthSerializer,
    MailDetailSerializer,
    MailKindSerializer,
    MailRetrySerializer,
    MailSerializer,
    MutedSerializer,
    ReasonSerializer,
    ResumptionSerializer,
    RunDetailSerializer,
    RunLineSerializer,
    RunSerializer,
)
from portal.ui.lists.filters import AuditFilter, MailFilter, RunFilter, RunLineFilter
from portal.ui.resumption import what_resumes
from portal.ui.run_steps import read_causes, run_steps
from portal.ui.selectors import audit_for_user, get_run_for_user, run_lines, runs_for_user
from portal.ui.views import audit as audit_page
from portal.ui.views import emergency_stop as stop_page
from portal.ui.views import mails as mails_page
from portal.ui.views import runs as runs_page
from portal.ui.views.driver_logs import DriverLogFilter, cluster_log_url, driver_log_url

LAST_LINES = 200
DRIVER_LOG = [
    OpenApiParameter("text", str, description="Lines that contain it."),
    OpenApiParameter("attempt", int, description="Without it: the latest."),
    OpenApiParameter("before", int, description="`older` of an answer: what is before it."),
]


class RunList(KeysetList):
    """Runs, newest first."""

    operation_id = "runs_list"
    serializer_class = RunSerializer
    filterset_class = RunFilter
    orders = runs_page.ORDERS
    complete = staticmethod(read_causes)

    def get_queryset(self) -> Rows:
        """List the runs that you may see."""
        return runs_for_user(self.user, self.lake)


class RunDetail(ApiView):
    """One run."""

    @operation("runs_get", answer=RunDetailSerializer)
    def get(self, run_id: UUID) -> object:
        """Return a run with the last lines of its log."""
        run: Any = get_run_for_user(run_id, self.user)
        lines = run_lines(run).order_by("-at", "-seq")[:LAST_LINES]
        run.last_lines = list(reversed(lines))
        run.steps = run_steps(run, self.user)
        run.waits = run_waits(run, now=timezone.now())
        run.driver_log, run.cluster_log = driver_log_url(run), cluster_log_url(run)
        return run


class RunLineList(KeysetList):
    """The log of a run."""

    operation_id = "runs_lines"
    serializer_class = RunLineSerializer
    filterset_class = RunLineFilter
    orders = runs_page.LINE_ORDERS

    def get_queryset(self) -> Rows:
        """List the lines of a run's log, the newest first."""
        return run_lines(get_run_for_user(self.kwargs["run_id"], self.user))


class RunDriverLog(ApiView):
    """The log of the driver of a run."""

    @operation("runs_driver_log", answer=DriverLogSerializer, parameters=DRIVER_LOG)
    def get(self, run_id: UUID) -> object:
        """Return the last lines that the driver wrote, where the portal's host captured them.

        Passwords and what is called a secret are replaced by `***`.
        """
        run = get_run_for_user(run_id, self.user)
        chosen = DriverLogFilter(run, self.request.query_params)
        if problems := chosen.problems():
            raise ValidationError(problems)
        found, attempt = chosen.found(), chosen.attempt_shown
        return {
            "attempt": attempt,
            "attempts": attempts_captured(run),
            "lines": found.lines,
            "older": found.older,
        }


class RunCancel(ApiView):
    """Stopping a run."""

    @operation("runs_cancel", body=ReasonSerializer, answer=RunSerializer)
    def post(self, run_id: UUID) -> object:
        """Ask a run to stop at its next safe point."""
        reason = self.data["reason"]
        run = get_run_for_user(run_id, self.user)
        return run_cancel(run.pk, user=self.user, reason=reason, now=timezone.now())


class AuditList(KeysetList):
    """The audit record."""

    operation_id = "audit_list"
    serializer_class = AuditEventSerializer
    filterset_class = AuditFilter
    orders = audit_page.ORDERS

    def get_queryset(self) -> Rows:
        """List the events that you may see, newest first."""
        return audit_for_user(self.user, self.lake)


class MailList(KeysetList):
    """Mails, newest first."""

    operation_id = "mails_list"
    serializer_class = MailSerializer
    filterset_class = MailFilter
    orders = mails_page.ORDERS

    def get_queryset(self) -> Rows:
        """List the mails that you may see: admins and operators all, others their own."""
        rows = notices_for_user(self.user, self.lake)
        return rows.defer("text", "html")


class MailDetail(ApiView):
    """One mail."""

    @operation("mails_get", answer=MailDetailSerializer)
    def get(self, notice_id: UUID) -> object:
        """Return a mail with what it says."""
        return get_notice_for_user(notice_id, self.user)


class MailRetry(ApiView):
    """Sending a mail again."""

    @operation("mails_retry", body=MailRetrySerializer, answer=MailDetailSerializer)
    def post(self, notice_id: UUID) -> object:
        """Try a mail that failed once more (admins and operators), to `email` where it is given."""
        email = self.data["email"]
        return notice_retry(notice_id, user=self.user, email=email, now=timezone.now())


class MailKindList(ApiView):
    """The kinds of mail."""

    @operation("mail_kinds_list", answer=MailKindSerializer, many=True)
    def get(self) -> object:
        """List the kinds of mail, and which of them you turned off."""
        return self._kinds()

    @operation("mail_kinds_mute", body=MutedSerializer, answer=MailKindSerializer, many=True)
    def post(self) -> object:
        """Turn off exactly these kinds of mail for yourself, and the others on."""
        mails_mute(self.user, self.data["kinds"])
        return self._kinds()

    def _kinds(self) -> list[dict[str, object]]:
        muted = muted_by(self.user)
        return [
            {
                "kind": one.name,
                "title": one.title,
                "may_be_muted": one.may_be_muted,
                "is_muted": one.name in muted,
            }
            for one in mail_kinds()
        ]


class HealthView(ApiView):
    """What the portal needs."""

    @operation("health_get", answer=HealthSerializer, many=True)
    def get(self) -> object:
        """Ask each part now; an absence says what goes on and what waits (admins, operators)."""
        if not self.user.is_portal_staff:
            raise NotVisible("page.missing", "There is nothing at this address for you.")
        return health_now()


class EmergencyStopView(ApiView):
    """The emergency stop of a lake."""

    @operation("red_button_get", answer=EmergencyStopSerializer)
    def get(self) -> object:
        """Say whether the stop is on, by whom and why, and what waits for its end."""
        return self._answer()

    @operation(
        "red_button_change", body=EmergencyStopChangeSerializer, answer=EmergencyStopSerializer
    )
    def post(self) -> object:
        """Press (everybody who is signed in), or take a step to the release (two admins)."""
        stop_page.take_step(
            self.data["do"],
            lake=self.lake,
            user=self.user,
            reason=self.data["reason"],
            release_id=self.data["release_id"],
            now=timezone.now(),
        )
        return self._answer()

    def _answer(self) -> Response:
        lake, now = self.lake, timezone.now()
        press = emergency_stop_state(lake)
        resumes = what_resumes(lake, now=now) if press and self.user.is_lake_staff_of(lake) else []
        return Response(
            {
                "lake": lake,
                "is_on": press is not None,
                "pressed_by": press.pressed_by if press else None,
                "pressed_at": press.pressed_at if press else None,
                "reason": press.reason if press else None,
                "needs_reason": press is not None and press.needs_reason,
                "release": _release(press, now=now) if press else None,
                "may": emergency_stop_steps(press, self.user, now=now),
                "resumes": ResumptionSerializer(resumes, many=True).data,
                "working_hours": working_hours(lake),
                "waits": hours_wait(lake, now=now),
            }
        )


def _release(press: EmergencyStop, *, now: datetime) -> dict[str, object] | None:
    """Return the proposal that waits for a second admin, as the API gives it."""
    if not release_is_pending(press, now=now):
        return None
    return {
        "id": str(press.release_id),
        "proposed_by": press.release_proposed_by,
        "proposed_at": press.release_proposed_at,
        "expires_at": press.release_expires_at,
        "reason": press.release_reason,
    }
