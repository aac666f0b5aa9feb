"""Reads restore tests, what they compared, and the age of each database's proof."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import django_filters as filters
from django.conf import settings
from django.db.models import Case, CharField, Count, F, Max, Min, Q, QuerySet, Sum, Value, When

from lifecycle.models import RestoreTest, RestoreTestItem, RestoreVerification
from lifecycle.restore.selectors.backups import backup_totals_for_user, backups_owned_by
from lifecycle.restore_tests.domain import (
    BackedUp,
    Compared,
    Proof,
    RestoreTestState,
    VerificationStatus,
    verification_status,
)
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.ui.lists.filters import DayInput, ListFilter

RESTORE_TEST_ORDERS = {"-started": ("-started_at", "-id"), "started": ("started_at", "id")}
ITEM_ORDERS = {"name": ("db", "table")}


class RestoreTestFilter(ListFilter):
    """Restore tests by how they went, who asked and day."""

    state = filters.ChoiceFilter(
        choices=[(state.value, state.value.capitalize()) for state in RestoreTestState],
        label="Outcome",
        empty_label="Any",
    )
    requested_by = filters.CharFilter(label="Requested by")
    since = filters.DateFilter(
        field_name="started_at", lookup_expr="date__gte", label="From", widget=DayInput()
    )
    until = filters.DateFilter(
        field_name="started_at", lookup_expr="date__lte", label="To", widget=DayInput()
    )

    class Meta:
        model = RestoreTest
        fields: list[str] = []


class RestoreTestItemFilter(ListFilter):
    """What a restore test compared, by outcome and name."""

    outcome = filters.ChoiceFilter(
        choices=[(state.value, state.value.capitalize()) for state in Compared],
        label="Outcome",
        empty_label="Any",
    )
    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")

    class Meta:
        model = RestoreTestItem
        fields: list[str] = []


@dataclass(frozen=True, slots=True)
class VerifiedDatabase:
    """Where one database stands: what lies in its backups, and when that was last proven."""

    db: str
    state: VerificationStatus
    n_bytes: int
    backed_up_since: date
    verified_at: datetime | None = None
    proven_by: UUID | None = None
    failed_at: datetime | None = None
    failed_by: UUID | None = None

    @property
    def last_by(self) -> UUID | None:
        """The restore test behind the state."""
        return self.failed_by if self.state is VerificationStatus.FAILED else self.proven_by


def restore_tests_of(lake: str) -> QuerySet[RestoreTest]:
    """Return the restore tests of a lake; they name no data, so everybody may know of them."""
    return RestoreTest.objects.filter(lake=lake)


def get_restore_test(drill_id: UUID | str) -> RestoreTest:
    """Return one restore test; NotVisible where there is none."""
    found = RestoreTest.objects.filter(public_id=drill_id).first()
    if found is None:
        raise NotVisible("drill.missing", "There is no such restore test.")
    return found


def restore_test_run(restore_test: RestoreTest) -> Run | None:
    """Return the run of a restore test."""
    return Run.objects.filter(pk=restore_test.run_id).first()


def items_visible(restore_test: RestoreTest, user: User) -> QuerySet[RestoreTestItem]:
    """Return what a restore test compared, of the backups that this person may see."""
    rows = RestoreTestItem.objects.filter(restore_test=restore_test)
    if user.is_lake_staff_of(restore_test.lake):
        return rows
    return rows.filter(backups_owned_by(user))


def count_for(restore_tests: Sequence[RestoreTest], *, user: User) -> None:
    """Set the counts of restore tests to those of the items that this person may see.

    Admins and operators see all, so theirs stay as stored. The rows are changed in memory only and
    must not be saved. One query for any number of restore tests.
    """
    if not restore_tests or user.is_lake_staff_of(restore_tests[0].lake):
        return
    items = RestoreTestItem.objects.filter(
        backups_owned_by(user), restore_test__in=restore_tests
    ).order_by()
    by_outcome = {
        f"n_{name}": Count("pk", filter=Q(outcome=outcome))
        for name, outcome in (
            ("verified", Compared.PROVEN),
            ("differing", Compared.DIFFERS),
            ("skipped", Compared.SKIPPED),
        )
    }
    sums: Any = items.values("restore_test_id").annotate(
        n_items=Count("pk"), size=Sum("n_bytes"), rows=Sum("n_rows"), **by_outcome
    )
    found: dict[int, dict[str, Any]] = {row["restore_test_id"]: row for row in sums}
    for restore_test in restore_tests:
        seen = found.get(restore_test.pk, {})
        for name in ("n_items", *by_outcome):
            setattr(restore_test, name, seen.get(name, 0))
        restore_test.n_bytes, restore_test.n_rows = seen.get("size") or 0, seen.get("rows") or 0


def verification_lasts() -> timedelta:
    """Return for how long a proof counts."""
    return timedelta(days=settings.LAKEWARDEN_DRILL_PROOF_DAYS)


def verified_databases(
    lake: str, *, now: datetime, user: User | None = None
) -> list[VerifiedDatabase]:
    """Return the databases with something to restore, those that need a look first.

    Without a person it is all of them, as for alarms; else what this person may see, with the size
    and the first day of that.
    """
    rows = RestoreVerification.objects.filter(lake=lake, n_restorable__gt=0)
    rows = rows.select_related("proven_by", "failed_by")
    if user is not None and not user.is_lake_staff_of(lake):
        mine = backup_totals_for_user(lake, user).order_by().values("db")
        sums = mine.annotate(
            since=Min("day"), left=Sum("n_restorable"), size=Sum("restorable_bytes")
        )
        seen = {row["db"]: row for row in sums.filter(left__gt=0)}
        rows = rows.filter(db__in=set(seen))
        for row in rows:
            row.backed_up_since = seen[row.db]["since"]
            row.n_bytes = seen[row.db]["size"] or 0
    found = [_verified(row, now=now) for row in rows]
    first = list(reversed(VerificationStatus))
    return sorted(found, key=lambda one: (first.index(one.state), one.db))


def verification_counts(*, now: datetime) -> Counter[tuple[str, VerificationStatus]]:
    """Count the databases with something to restore, by lake and state, in one query.

    The rule is that of `proof_state`, spelled for the database.
    """
    old = now - verification_lasts()
    state = Case(
        When(Q(failed_at__gte=F("verified_at")), then=Value(VerificationStatus.FAILED.value)),
        When(
            Q(failed_at__isnull=False, verified_at=None),
            then=Value(VerificationStatus.FAILED.value),
        ),
        When(verified_at__gte=old, then=Value(VerificationStatus.PROVEN.value)),
        When(verified_at__lt=old, then=Value(VerificationStatus.OVERDUE.value)),
        When(backed_up_since__lt=old.date(), then=Value(VerificationStatus.OVERDUE.value)),
        default=Value(VerificationStatus.WAITING.value),
        output_field=CharField(),
    )
    rows = RestoreVerification.objects.filter(n_restorable__gt=0).order_by()
    counted = rows.values("lake", judged=state).annotate(n=Count("pk"))
    return Counter({(row["lake"], VerificationStatus(row["judged"])): row["n"] for row in counted})


def _verified(row: RestoreVerification, *, now: datetime) -> VerifiedDatabase:
    since = row.backed_up_since or now.date()
    return VerifiedDatabase(
        db=row.db,
        state=verification_status(
            Proof(since, row.verified_at, row.failed_at), now=now, lasts=verification_lasts()
        ),
        n_bytes=row.n_bytes,
        backed_up_since=since,
        verified_at=row.verified_at,
        proven_by=row.proven_by.public_id if row.proven_by else None,
        failed_at=row.failed_at,
        failed_by=row.failed_by.public_id if row.failed_by else None,
    )


def verified_tables(lake: str) -> dict[BackedUp, datetime]:
    """Return when something of each table was last proven, or at least tried: its turn is over."""
    rows = RestoreTestItem.objects.filter(lake=lake).order_by().values("db", "table")
    return {
        BackedUp(row["db"], row["table"]): row["at"] for row in rows.annotate(at=Max("checked_at"))
    }


def known_contents(lake: str, batches: Collection[UUID]) -> dict[str, dict[str, str]]:
    """Give, by batch and item, the sha256 that restore tests read when they proved it."""
    rows = RestoreTestItem.objects.filter(
        lake=lake, batch_id__in=batches, outcome=Compared.PROVEN
    ).exclude(content="")
    known: dict[str, dict[str, str]] = {}
    for batch, item, content in rows.order_by("id").values_list("batch_id", "item", "content"):
        known.setdefault(str(batch), {})[item] = content
    return known
