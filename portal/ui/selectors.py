"""Queries of the runs and audit events that a person may see.

Admins and operators see all of a lake. An owner sees the runs they asked for, and the events of
what they did and of the tables and databases they answer for.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Case, Q, QuerySet, Value, When
from django.db.models.functions import StrIndex, Substr

from portal.access.models import DatabaseAdministrator, User
from portal.access.visibility import of_staffed_lakes
from portal.audit.models import AuditEvent, AuditHead
from portal.lake.errors import NotVisible
from portal.runs.domain import RunState
from portal.runs.models import Run, RunEvent

COUNTED_AT_MOST = 500
OWNED_CAP = 2_000
OWNED_DATABASES_CAP = 100
_ROLE_CHANGES = ("person.role_granted", "person.role_taken")
OF_TABLES = ("table", "partition", "item")

OwnedTables = Callable[[User, str], Iterable[str]]
_owned: list[OwnedTables] = []


def register_owned_tables(provider: OwnedTables) -> OwnedTables:
    """Let a room say which tables (`db.table`) a person owns in a lake."""
    if provider not in _owned:
        _owned.append(provider)
    return provider


def runs_visible(user: User) -> QuerySet[Run]:
    """Return the runs of every lake that the person may see."""
    mine = Q(requested_by=user.username)
    return Run.objects.filter(of_staffed_lakes(user, otherwise=mine))


def runs_for_user(user: User, lake: str) -> QuerySet[Run]:
    """Return the runs of a lake that the person may see."""
    mine = Q(requested_by=user.username)
    return Run.objects.filter(of_staffed_lakes(user, otherwise=mine, of_lake=lake))


def get_run_for_user(run_id: UUID | str, user: User) -> Run:
    """Return one run, whatever its lake.

    Raises:
        NotVisible: there is none for this person.
    """
    try:
        run = runs_visible(user).filter(pk=run_id).first()
    except ValidationError:
        run = None
    if run is None:
        raise NotVisible("run.missing", "There is no such run for you.", run=run_id)
    return run


def failed_runs_of(user: User, lake: str, *, since: datetime) -> QuerySet[Run]:
    """Return the runs that the person asked for and that failed lately, newest first."""
    failed = Run.objects.filter(lake=lake, requested_by=user.username, state=RunState.FAILED)
    return failed.filter(queued_at__gte=since).order_by("-queued_at")


@dataclass(frozen=True, slots=True)
class RunCounts:
    """How many runs stand behind the links of the list, each counted up to 500."""

    failed: int
    routine: int


def run_counts(user: User, lake: str) -> RunCounts:
    """Count the runs that the person may see: failed ones, and routine checks."""
    runs = runs_for_user(user, lake)

    def upto(part: QuerySet[Run]) -> int:
        """Count in the order of the index, which a limit alone does not make SQLite use."""
        return part.order_by("-queued_at")[:COUNTED_AT_MOST].count()

    return RunCounts(
        failed=upto(runs.filter(state=RunState.FAILED.value)),
        # Nobody asks for those: there are none among a person's own.
        routine=upto(runs.filter(is_routine__in=(True,))) if user.is_lake_staff_of(lake) else 0,
    )


def run_lines(run: Run) -> QuerySet[RunEvent]:
    """Return the log of a run, unordered."""
    return RunEvent.objects.filter(run=run).order_by()


def audit_for_user(user: User, lake: str) -> QuerySet[AuditEvent]:
    """Return the events of a lake that the person may see, unordered."""
    events = AuditEvent.objects.filter(lake=lake).order_by()
    if user.is_lake_staff_of(lake):
        # What happened to people is written into the record of every lake.
        of_people = Q(object_type="person") & ~Q(action__in=_ROLE_CHANGES)
        return events if user.is_portal_staff else events.exclude(of_people)
    slash = StrIndex("object_id", Value("/"))
    table_name = Case(
        When(object_id__contains="/", then=Substr("object_id", 1, slash - 1)), default="object_id"
    )
    named = events.annotate(table_name=table_name)
    return named.filter(Q(actor=user.username) | _owned_objects(user, lake))


def events_of_table(lake: str, db: str, table: str) -> QuerySet[AuditEvent]:
    """Return the events of a table and of its partitions, unordered, for who may see the table."""
    name = f"{db}.{table}"
    of_tables = AuditEvent.objects.filter(lake=lake, object_type__in=OF_TABLES).order_by()
    # A range and no pattern: of every name that begins with the table's and a slash.
    of_items = Q(object_id__gte=f"{name}/", object_id__lt=f"{name}0")
    # By their numbers, so that the newest are not searched for through the whole log of the lake.
    found = of_tables.filter(Q(object_id=name) | of_items)
    return AuditEvent.objects.filter(seq__in=found.values("seq")).order_by()


def audit_head() -> AuditHead | None:
    """Return where the chain of events ends."""
    return AuditHead.objects.first()


def administered_databases(user: User) -> Iterator[tuple[str, str]]:
    """Return (lake, database) of what the person administers."""
    rows = DatabaseAdministrator.objects.filter(username=user.username)
    return rows.order_by("lake", "db").values_list("lake", "db").iterator()


def _owned_objects(user: User, lake: str) -> Q:
    """Spell 'the event is about a table, its items, or a database that is mine'."""
    databases = [db for of_lake, db in administered_databases(user) if of_lake == lake]
    tables = {name for provider in _owned for name in provider(user, lake)}
    named = Q(object_type__in=OF_TABLES)
    mine = Q(object_type="database", object_id__in=databases)
    mine |= named & Q(table_name__in=sorted(tables)[:OWNED_CAP])
    for db in databases[:OWNED_DATABASES_CAP]:
        mine |= named & Q(table_name__startswith=f"{db}.")
    return mine
