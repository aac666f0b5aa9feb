"""API of runs, the audit record and the emergency stop."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.health import health_now
from portal.lake.errors import NotVisible
from portal.notices.selectors import get_notice_for_user, notices_for_user
from portal.notices.services import notice_retry
from portal.runs.kinds.hours import hours_wait, working_hours
from portal.runs.requests.selectors import run_waits
from portal.runs.requests.services import run_cancel
from portal.safety.selectors import red_button_state
from portal.safety.services import red_button_press, red_button_release
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import (
    AuditEventSerializer,
    HealthSerializer,
    MailDetailSerializer,
    MailRetrySerializer,
    MailSerializer,
    ReasonSerializer,
    RedButtonChangeSerializer,
    RedButtonSerializer,
    RunDetailSerializer,
    RunSerializer,
    page_of,
    said_reason,
)
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.filters import AuditFilter, MailFilter, RunFilter
from portal.ui.run_steps import read_causes, run_steps
from portal.ui.selectors import (
    audit_for_user,
    get_run_for_user,
    run_lines,
    runs_for_user,
)
from portal.ui.views import audit as audit_page
from portal.ui.views import mails as mails_page
from portal.ui.views import runs as runs_page

LAST_LINES = 200


def list_parameters(*names: str) -> list[OpenApiParameter]:
    """Describe the query parameters that every list has, and the list's own filters."""
    return [OpenApiParameter(name, str) for name in ("lake", "sort", "after", "before", *names)] + [
        OpenApiParameter("size", int)
    ]


class RunList(APIView):
    """Runs, newest first."""

    @extend_schema(
        operation_id="runs_list",
        responses=page_of("Run", RunSerializer),
        parameters=list_parameters("kind", "state", "requested_by"),
    )
    def get(self, request: Request) -> Response:
        """List the runs that you may see."""
        return keyset_response(
            request,
            runs_for_user(person(request), current_lake(request)),
            filter_class=RunFilter,
            orders=runs_page.ORDERS,
            show=lambda row: dict(RunSerializer(row).data),
            complete=read_causes,
        )


class RunDetail(APIView):
    """One run."""

    @extend_schema(operation_id="runs_get", responses=RunDetailSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return a run with the last lines of its log."""
        run: Any = get_run_for_user(run_id, person(request))
        lines = run_lines(run).order_by("-at", "-seq")[:LAST_LINES]
        run.last_lines = list(reversed(lines))
        run.steps = run_steps(run, person(request))
        run.waits = run_waits(run, now=timezone.now())
        return Response(RunDetailSerializer(run).data)


class RunCancel(APIView):
    """Stopping a run."""

    @extend_schema(operation_id="runs_cancel", request=ReasonSerializer, responses=RunSerializer)
    def post(self, request: Request, run_id: UUID) -> Response:
        """Ask a run to stop at its next safe point."""
        reason = said_reason(request)
        run = get_run_for_user(run_id, person(request))
        stopped = run_cancel(run.pk, user=person(request), reason=reason, now=timezone.now())
        return Response(RunSerializer(stopped).data)


class AuditList(APIView):
    """The audit record."""

    @extend_schema(
        operation_id="audit_list",
        responses=page_of("AuditEvent", AuditEventSerializer),
        parameters=list_parameters("action", "actor", "object_type", "object_id", "since", "until"),
    )
    def get(self, request: Request) -> Response:
        """List the events that you may see, newest first."""
        return keyset_response(
            request,
            audit_for_user(person(request), current_lake(request)),
            filter_class=AuditFilter,
            orders=audit_page.ORDERS,
            show=lambda row: dict(AuditEventSerializer(row).data),
        )


class MailList(APIView):
    """Mails, newest first."""

    @extend_schema(
        operation_id="mails_list",
        responses=page_of("Mail", MailSerializer),
        parameters=list_parameters("kind", "state", "recipient", "since", "until"),
    )
    def get(self, request: Request) -> Response:
        """List the mails that you may see: admins and operators all, others their own."""
        rows = notices_for_user(person(request)).filter(lake=current_lake(request))
        return keyset_response(
            request,
            rows.defer("text", "html"),
            filter_class=MailFilter,
            orders=mails_page.ORDERS,
            show=lambda row: dict(MailSerializer(row).data),
        )


class MailDetail(APIView):
    """One mail."""

    @extend_schema(operation_id="mails_get", responses=MailDetailSerializer)
    def get(self, request: Request, notice_id: UUID) -> Response:
        """Return a mail with what it says."""
        notice = get_notice_for_user(notice_id, person(request))
        return Response(MailDetailSerializer(notice).data)


class MailRetry(APIView):
    """Sending a mail again."""

    @extend_schema(
        operation_id="mails_retry", request=MailRetrySerializer, responses=MailDetailSerializer
    )
    def post(self, request: Request, notice_id: UUID) -> Response:
        """Try a mail that failed once more (admins and operators), to `email` where it is given."""
        body = MailRetrySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        email = body.validated_data["email"]
        notice = notice_retry(notice_id, user=person(request), email=email, now=timezone.now())
        return Response(MailDetailSerializer(notice).data)


class HealthView(APIView):
    """What the portal needs."""

    @extend_schema(operation_id="health_get", responses=HealthSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Ask each part now; an absence says what goes on and what waits (admins, operators)."""
        if not person(request).is_lake_keeper:
            raise NotVisible("page.missing", "There is nothing at this address for you.")
        return Response(HealthSerializer(health_now(), many=True).data)


class RedButtonView(APIView):
    """The red button of a lake."""

    @extend_schema(operation_id="red_button_get", responses=RedButtonSerializer)
    def get(self, request: Request) -> Response:
        """Say whether the button is on, by whom and why."""
        return self._answer(request)

    @extend_schema(
        operation_id="red_button_change",
        request=RedButtonChangeSerializer,
        responses=RedButtonSerializer,
    )
    def post(self, request: Request) -> Response:
        """Press the button (everybody who is signed in), or release it (admins)."""
        user = person(request)
        body = RedButtonChangeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        lake, reason = current_lake(request), body.validated_data["reason"]
        now = timezone.now()
        if body.validated_data["do"] == "release":
            red_button_release(lake=lake, user=user, reason=reason, now=now)
        else:
            red_button_press(lake=lake, pressed_by=user.username, reason=reason, now=now)
        return self._answer(request)

    def _answer(self, request: Request) -> Response:
        lake = current_lake(request)
        press = red_button_state(lake)
        return Response(
            {
                "lake": lake,
                "is_on": press is not None,
                "pressed_by": press.pressed_by if press else None,
                "pressed_at": press.pressed_at if press else None,
                "reason": press.reason if press else None,
                "working_hours": working_hours(lake),
                "waits": hours_wait(lake, now=timezone.now()),
            }
        )
