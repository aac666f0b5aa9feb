"""API of enrollments, equivalent to the pages."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter

from lifecycle.enrollment.selectors import (
    ENROLLMENT_ORDERS,
    FILTER_KEYS,
    ITEM_ORDERS,
    EnrollmentFilter,
    EnrollmentItemFilter,
    enrollments_visible,
    get_enrollment_for_user,
    items_visible,
    preview,
)
from lifecycle.enrollment.services.enrollments import (
    ENROLLMENTS,
    EnrollmentParams,
    enrollment_request,
    enrollment_undo,
)
from lifecycle.expiry.selectors import outcome_json
from lifecycle.models import Enrollment
from lifecycle.policies.api.serializers import (
    EnrollmentDetailSerializer,
    EnrollmentItemSerializer,
    EnrollmentParamsSerializer,
    EnrollmentPreviewSerializer,
    EnrollmentSerializer,
)
from lifecycle.policies.domain.policy import Values, check_values
from portal.access.models import User
from portal.lake.errors import NotAllowed, RuleViolation
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.proposals import decide_api, reasoned_api

CHOICE = [OpenApiParameter(name, str) for name in FILTER_KEYS]


class EnrollmentList(KeysetList):
    """Enrollments."""

    operation_id = "enrolments_list"
    serializer_class = EnrollmentSerializer
    filterset_class = EnrollmentFilter
    orders = ENROLLMENT_ORDERS

    def get_queryset(self) -> Rows:
        """List the enrollments that you may see."""
        return enrollments_visible(self.lake, self.user)

    @operation(
        "enrolments_create",
        body=EnrollmentParamsSerializer,
        answer=EnrollmentDetailSerializer,
        status=201,
        parameters=LAKE,
    )
    def post(self) -> object:
        """Ask two people to enroll the chosen tables (admins and operators)."""
        data = self.data
        now = timezone.now()
        wish = EnrollmentParams(
            selection={key: data[key] for key in FILTER_KEYS},
            wanted=Values(data["level"], data["ttl"]),
            n_tables=data["n_tables"],
            reason=data["reason"],
        )
        made = enrollment_request(self.lake, wish, user=self.user, now=now)
        return _detail(made, self.user)


class EnrollmentPreview(ApiView):
    """What an enrollment would mean."""

    @operation(
        "enrolments_preview",
        answer=EnrollmentPreviewSerializer,
        parameters=[*LAKE, *CHOICE, OpenApiParameter("level", int), OpenApiParameter("ttl", int)],
    )
    def get(self) -> object:
        """Count the tables of a choice, and what would go under `level` and `ttl`."""
        if not self.user.is_lake_staff_of(self.lake):
            raise NotAllowed("enrol.role", "Admins and operators ask for enrollments.")
        params = self.request.query_params
        selection = {key: params.get(key, "") for key in FILTER_KEYS}
        found = preview(self.lake, selection, _wanted(params))
        return {
            "n_tables": found.n_tables,
            "n_observed": found.n_observed,
            "most": found.most,
            "outcome": outcome_json(found.outcome) if found.outcome else None,
        }


class EnrollmentDetail(ApiView):
    """One enrollment."""

    @operation("enrolments_get", answer=EnrollmentDetailSerializer)
    def get(self, enrolment_id: UUID) -> object:
        """Return an enrollment with the steps that you may take."""
        found = get_enrollment_for_user(enrolment_id, user=self.user)
        return _detail(found, self.user)


class EnrollmentItems(KeysetList):
    """The tables of an enrollment."""

    operation_id = "enrolment_items_list"
    serializer_class = EnrollmentItemSerializer
    filterset_class = EnrollmentItemFilter
    orders = ITEM_ORDERS

    def get_queryset(self) -> Rows:
        """List its tables that you may see, with what became of each."""
        found = get_enrollment_for_user(self.kwargs["enrolment_id"], user=self.user)
        return items_visible(found, self.user)


def _detail(found: Enrollment, user: User) -> object:
    shown: Any = found
    shown.transitions = ENROLLMENTS.steps(found, user, now=timezone.now()).names
    if not user.is_lake_staff_of(found.lake):
        shown.what_if = {}  # counts tables that are not theirs
    return shown


EnrollmentDecide = decide_api(
    ENROLLMENTS,
    "enrolments_decide",
    says="Approve or reject exactly what has the digest that you read.",
    shown=_detail,
    answer=EnrollmentDetailSerializer,
)
EnrollmentWithdraw = reasoned_api(
    ENROLLMENTS.withdraw,
    "enrolments_withdraw",
    says="Withdraw your enrollment before anybody decided.",
    shown=_detail,
    answer=EnrollmentDetailSerializer,
)
EnrollmentUndo = reasoned_api(
    enrollment_undo,
    "enrolments_undo",
    says="Have the values put back that stood before an enrollment (admins).",
    shown=_detail,
    answer=EnrollmentDetailSerializer,
)


def _wanted(params: Any) -> Values | None:
    level, ttl = params.get("level", ""), params.get("ttl", "")
    if not level:
        return None
    if not all(one.isascii() and one.isdigit() for one in (level, ttl or "0")):
        raise RuleViolation("policy.values", "LEVEL is 0 or 1, TTL a whole number of days.")
    wanted = Values(int(level), int(ttl) if ttl else None)
    check_values(wanted)
    return wanted
