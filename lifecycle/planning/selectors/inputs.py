"""Reads what decides, beside the scan's items, which and how many may enter a drop plan now.

A lake's `plan_limits` in lakes.json come first, the site's LAKEWARDEN_PLAN_* settings second.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import BigIntegerField, Case, F, Min, Q, Sum, Value, When

from lifecycle.backup.selectors import holds_active
from lifecycle.core.domain.caps import Caps, caps_crossed
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.core.selectors.sent_notices import coverages_of
from lifecycle.drop.domain.refusal import Circumstances, Name, Names
from lifecycle.inventory.selectors.dropped import DROPPED_ACTIONS
from lifecycle.models import (
    DatabaseSetting,
    DeletionRequest,
    DropPlan,
    DropPlanTable,
    LatestScan,
    PlanState,
    ScanSnapshot,
    TableFinding,
)
from lifecycle.policies.models.policy import MIN_BACKUP_DAYS
from lifecycle.rules.selectors.exceptions import no_longer_excepted
from portal.access.models import DatabaseAdministrator, OwnerMapping
from portal.access.roles.domain import ADMIN
from portal.access.selectors import people_of_lake
from portal.approvals.domain import DecisionKind
from portal.approvals.selectors import decisions_of, requesters_shown
from portal.approvals.sizes import Needed, plan_limit, plan_needed
from portal.audit.models import AuditEvent
from portal.events.models import TableTouch
from portal.lake.errors import StaleState

WAITING = (PlanState.PENDING, PlanState.APPROVED, PlanState.RUNNING)


def current_generation(lake: str) -> ScanSnapshot:
    """Return the last whole picture of a lake.

    Raises:
        StaleState: `scan.none` before the first finished scan.
    """
    current = LatestScan.objects.select_related("generation").filter(lake=lake).first()
    if current is None:
        raise StaleState("scan.none", "No scan has finished yet. Start a scan and try again.")
    return current.generation


def act_databases(lake: str) -> set[str]:
    """Return the databases in which the portal may act."""
    settings = DatabaseSetting.objects.filter(lake=lake, mode=DatabaseMode.ACT)
    return set(settings.values_list("db", flat=True))


def keep_days_now(lake: str, databases: Collection[str]) -> dict[str, int]:
    """Return for how many days the backups of some databases are kept, as set now."""
    days = dict.fromkeys(sorted(databases), MIN_BACKUP_DAYS)
    settings = DatabaseSetting.objects.filter(lake=lake, db__in=databases)
    return days | dict(settings.values_list("db", "backup_days"))


def inventory(generation: ScanSnapshot, databases: Collection[str]) -> int:
    """Count the items that a scan knew in some databases: partitions, and unpartitioned tables."""
    rows = TableFinding.objects.filter(generation=generation, db__in=databases)
    counted = rows.aggregate(
        n=Sum(
            Case(
                When(n_partitions=0, then=Value(1)),
                default=F("n_partitions"),
                output_field=BigIntegerField(),
            )
        )
    )
    return counted["n"] or 0


def circumstances_of(
    plan: DropPlan, generation: ScanSnapshot, *, today: date, now: datetime
) -> Circumstances:
    """Read modes, notices, holds and other plans as they are now; owners' yeses come beside."""
    settings = list(DatabaseSetting.objects.filter(lake=plan.lake))
    touches = TableTouch.objects.filter(lake=plan.lake, event_id__gt=generation.notification_id)
    events = list(touches.values_list("db", "table", "altered_event_id"))
    return Circumstances(
        today=today,
        modes={setting.db: DatabaseMode(setting.mode) for setting in settings},
        notice_days={setting.db: setting.notice_days for setting in settings},
        coverages=coverages_of(generation),
        holds=Names.of(
            Name(hold.db, hold.table, hold.partition) for hold in holds_active(plan.lake, now=now)
        ),
        touched=Names.of(Name(db, table) for db, table, _ in events),
        altered=Names.of(
            Name(db, table) for db, table, altered in events if altered > generation.notification_id
        ),
        in_other_plans=Names.of(_in_other_plans(plan)),
        dropped=Names.of(_dropped_since(plan.lake, generation.read_at)),
        unexcepted=Names.of(no_longer_excepted(plan.lake, since=generation.as_of, today=today)),
    )


def _in_other_plans(plan: DropPlan) -> list[Name]:
    others = DropPlanTable.objects.filter(lake=plan.lake, plan__state__in=WAITING)
    named = others.exclude(plan=plan).values_list("db", "table")
    return [Name(db, table) for db, table in named]


def _dropped_since(lake: str, read_at: datetime) -> list[Name]:
    """Return the items that plans dropped which ended since a scan began to read.

    The audit record names each; only its part since the first of these plans began is read.
    """
    ran = DropPlan.objects.filter(lake=lake, run__isnull=False, ended_at__gte=read_at)
    events = AuditEvent.objects.filter(lake=lake)
    starts = events.filter(
        object_type="drop_plan", object_id__in=[str(pk) for pk in ran.values_list("pk", flat=True)]
    )
    first = starts.aggregate(seq=Min("seq"))["seq"]
    if first is None:
        return []
    dropped = events.filter(action__in=DROPPED_ACTIONS, seq__gt=first)
    # A name too long for its column is cut there and whole in the data.
    names = dropped.values_list("object_id", "data__name")
    return [_item_name(whole or cut) for cut, whole in names]


def _item_name(text: str) -> Name:
    """Read `db.table` or `db.table/k=v/...`, as audit events name an item."""
    table, _, partition = text.partition("/")
    db, _, name = table.partition(".")
    return Name(db, name, partition)


def open_requests(lake: str) -> list[DeletionRequest]:
    """Return the owners' open requests whose author still owns the table."""
    wishes = DeletionRequest.objects.filter(lake=lake, state=DeletionRequest.State.OPEN)
    return [
        wish
        for wish in wishes.order_by("created_at")[:5000]
        if owns_table(wish.requested_by, lake=lake, db=wish.db, table=wish.table)
    ]


def owns_table(username: str, *, lake: str, db: str, table: str) -> bool:
    """Whether a person answers for a table: its owner, its database's, or an administrator."""
    current = LatestScan.objects.filter(lake=lake).values("generation_id")
    behind = OwnerMapping.objects.filter(lake=lake, username=username)
    names = [username, *behind.values_list("owner", flat=True)]
    owned = TableFinding.objects.filter(generation_id__in=current, db=db, table=table).filter(
        Q(owner__in=names) | Q(db_owner__in=names)
    )
    administered = DatabaseAdministrator.objects.filter(lake=lake, db=db, username=username)
    return owned.exists() or administered.exists()


NEXT_STEP = (
    "Choose fewer tables, or ask an operator to raise this cap (plan_limits of the lake in "
    "lakes.json)."
)


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """What a plan's page says of its size: the caps, the inventory, the people it needs."""

    caps: Caps
    n_inventory: int
    needed: Needed
    is_small: bool
    """So few items that their share of the lake says nothing."""
    n_may_approve: int
    """Admins who may still approve: they did not ask for it and have not approved it yet."""
    n_given: int

    @property
    def is_short_of_people(self) -> bool:
        """Whether too few people are left for the approvals that are missing."""
        return self.n_may_approve + self.n_given < self.needed.n

    @property
    def most_of_share(self) -> int:
        """The most items that the cap by percent lets through."""
        return self.n_inventory * self.caps.max_percent // 100


def plan_caps(lake: str, *, n_items: int | None = None) -> Caps:
    """Return the caps of a lake; for a small plan the share of the lake says nothing."""
    is_small = n_items is not None and n_items <= plan_limit(lake, "small")
    return Caps(
        max_items=plan_limit(lake, "max_items"),
        max_bytes=plan_limit(lake, "max_bytes"),
        max_percent=100 if is_small else plan_limit(lake, "max_percent"),
    )


def plan_over_caps(lake: str, generation: ScanSnapshot, *, n_items: int, n_bytes: int) -> str:
    """Name every cap that a plan of this size crosses, and the next step; empty if none."""
    crossed = caps_crossed(
        n_items=n_items,
        n_bytes=n_bytes,
        n_inventory=inventory(generation, act_databases(lake)),
        caps=plan_caps(lake, n_items=n_items),
    )
    return " ".join([*crossed, NEXT_STEP]) if crossed else ""


def limits_now(lake: str, generation: ScanSnapshot) -> dict[str, int]:
    """Return the caps of a lake and its inventory, as a plan keeps them when it is created.

    A plan's page shows this record for good: caps and the number of items in ACT databases change.
    """
    caps = plan_caps(lake)
    return {
        "max_items": caps.max_items,
        "max_bytes": caps.max_bytes,
        "max_percent": caps.max_percent,
        "n_inventory": inventory(generation, act_databases(lake)),
        "small": plan_limit(lake, "small"),
    }


def plan_limits(plan: DropPlan) -> PlanLimits | None:
    """Return the limits that a drawn-up plan stands under; None before it was created."""
    if plan.generation is None:
        return None
    record = plan.limits or limits_now(plan.lake, plan.generation)
    return PlanLimits(
        caps=Caps(record["max_items"], record["max_bytes"], record["max_percent"]),
        n_inventory=record["n_inventory"],
        needed=plan_needed(plan.lake, n_items=plan.n_items, n_bytes=plan.n_bytes),
        is_small=plan.n_items <= record["small"],
        n_may_approve=_n_may_approve(plan),
        n_given=len(_approvers(plan)),
    )


def _n_may_approve(plan: DropPlan) -> int:
    """Count the lake's admins who are no requesters of a plan and have not approved it."""
    asked = {name.casefold() for name in requesters_shown(plan.approval, plan.requesters)}
    asked |= {name.casefold() for name in _approvers(plan)}
    admins = people_of_lake({ADMIN}, plan.lake)
    return sum(name.casefold() not in asked for name in admins.values_list("username", flat=True))


def _approvers(plan: DropPlan) -> list[str]:
    """Return who has approved a plan."""
    said = decisions_of(plan.approval)
    return [one.user.username for one in said if one.decision == DecisionKind.APPROVE]
