"""Reads tables that may be enrolled, what would be dropped then, and enrollment statuses."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import django_filters as filters
from django.conf import settings
from django.db.models import Count, Q, QuerySet

from lifecycle.core.domain.enrollment import KEEP_FOREVER_LEVEL
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.expiry.domain.what_if import Outcome
from lifecycle.expiry.selectors import many_what_ifs
from lifecycle.models import DatabaseSetting, Enrollment, EnrollmentItem, TableFinding
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import EnrollmentItemState, EnrollmentState
from portal.access.models import User
from portal.access.visibility import answered_by
from portal.approvals.selectors import Steps
from portal.catalog.selectors import OWNERS
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix

ENROLLMENT_ORDERS = {"-created": ("-created_at",), "created": ("created_at",)}
ITEM_ORDERS = {"name": ("db", "table"), "-name": ("-db", "-table"), "-size": ("-bytes_now",)}
FILTER_KEYS = ("db", "table", "owner", "person", "what")
NOW_KINDS = [("none", "Not in lifecycle"), ("forever", "Kept for ever (LEVEL 0)")]


class CandidateFilter(ListFilter):
    """Tables that could be enrolled, by name and owner."""

    db = filters.CharFilter(label="Database")
    table = prefix("table", "Table")
    owner = filters.CharFilter(label="Owner")
    person = filters.CharFilter(label="Responsible", method="filter_person")
    what = filters.ChoiceFilter(
        label="Now", choices=NOW_KINDS, method="filter_what", empty_label="Either"
    )

    class Meta:
        model = TableFinding
        fields: list[str] = []

    def filter_person(
        self, rows: QuerySet[TableFinding], name: str, value: str
    ) -> QuerySet[TableFinding]:
        """Keep what the person owns or administers."""
        return rows.filter(answered_by(value, owners=OWNERS))

    def filter_what(
        self, rows: QuerySet[TableFinding], name: str, value: str
    ) -> QuerySet[TableFinding]:
        """Keep what is outside lifecycle, or what is kept for ever."""
        kept = Q(level=KEEP_FOREVER_LEVEL)
        return rows.filter(kept) if value == "forever" else rows.exclude(kept)


class EnrollmentFilter(ListFilter):
    """Enrollments by state."""

    state = filters.ChoiceFilter(
        choices=[(one.value, one.value.capitalize()) for one in EnrollmentState], label="State"
    )

    class Meta:
        model = Enrollment
        fields: list[str] = []


class EnrollmentItemFilter(ListFilter):
    """Tables of an enrollment by what became of them."""

    state = filters.ChoiceFilter(
        choices=[(one.value, one.value.capitalize()) for one in EnrollmentItemState], label="Result"
    )
    db = filters.CharFilter(label="Database")
    table = prefix("table", "Table")

    class Meta:
        model = EnrollmentItem
        fields: list[str] = []


@dataclass(frozen=True, slots=True)
class Preview:
    """What a choice of tables would mean, as far as it may be asked for at once."""

    n_tables: int
    n_observed: int
    most: int
    outcome: Outcome | None

    @property
    def is_too_many(self) -> bool:
        """Whether more tables are chosen than one enrollment takes."""
        return self.n_tables > self.most


def candidates(lake: str, selection: Mapping[str, str]) -> QuerySet[TableFinding]:
    """Return the tables of a choice that may be enrolled, by the names of `CandidateFilter`.

    In databases that the portal writes to, of formats that it judges, and outside lifecycle now.
    """
    return _chosen(lake, selection).filter(db__in=_written_to(lake))


def preview(lake: str, selection: Mapping[str, str], wanted: Values | None) -> Preview:
    """Say how many tables a choice holds and what would go; the sums are of the last scan."""
    rows = candidates(lake, selection)
    n_tables = rows.count()
    most = settings.LAKEWARDEN_ENROL_MAX_TABLES
    outcome = None
    if wanted is not None and n_tables <= most:
        outcome = sum((one for _, one in many_what_ifs(rows.order_by("pk"), wanted)), Outcome())
    return Preview(
        n_tables=n_tables,
        n_observed=_chosen(lake, selection).exclude(db__in=_written_to(lake)).count(),
        most=most,
        outcome=outcome,
    )


def _chosen(lake: str, selection: Mapping[str, str]) -> QuerySet[TableFinding]:
    outside = Q(enrolled=False) | Q(level=KEEP_FOREVER_LEVEL)
    rows = TableFinding.objects.current(lake).filter(outside, unsupported_reason="")
    chosen: QuerySet[TableFinding] = CandidateFilter(selection, queryset=rows).qs
    return chosen


def _written_to(lake: str) -> list[str]:
    rows = DatabaseSetting.objects.filter(lake=lake).exclude(mode=DatabaseMode.OBSERVE)
    return list(rows.values_list("db", flat=True))


def enrollments_visible(lake: str, user: User) -> QuerySet[Enrollment]:
    """Return the enrollments that a person may see."""
    return Enrollment.objects.filter(lake=lake).for_user(user).select_related("approval")


def get_enrollment_for_user(enrolment_id: UUID | str, *, user: User) -> Enrollment:
    """Return one enrollment, or NotVisible `enrolment.missing`, whether it exists or not."""
    rows = Enrollment.objects.for_user(user).select_related("approval", "run", "undo_run")
    found = rows.filter(pk=enrolment_id).first()
    if found is None:
        raise NotVisible("enrolment.missing", "There is no such enrollment, or it is not yours.")
    return found


def items_visible(enrollment: Enrollment, user: User) -> QuerySet[EnrollmentItem]:
    """Return the tables of an enrollment that a person may see."""
    return EnrollmentItem.objects.filter(enrollment=enrollment).for_user(user)


def result_counts(enrollment: Enrollment, user: User) -> dict[str, int]:
    """Count the visible tables of an enrollment by what became of them."""
    rows = items_visible(enrollment, user).order_by().values_list("state")
    return dict(rows.annotate(n=Count("pk")))


def enrollment_other_steps(enrollment: Enrollment, user: User) -> Steps:
    """Return what a person may do with an enrollment that does not wait for a decision."""
    if enrollment.state not in (EnrollmentState.DONE, EnrollmentState.FAILED):
        return Steps()
    done = enrollment.items.filter(state=EnrollmentItemState.DONE).exists()
    return Steps(undo=user.is_lake_admin_of(enrollment.lake) and done)
