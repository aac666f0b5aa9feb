"""Drafts a relocation plan from a request: the moves, and a reason where there is none.

Runs in a worker (it reads the lake). The rule is `relocation.domain.moves`, facts of the day are
`relocation.domain.refusal`; here the scan's picture is read and shown to them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from lifecycle.backup.engine.move.records import MoveItem
from lifecycle.backup.selectors import holds_active
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.drop.domain.refusal import Name, Names
from lifecycle.inventory.selectors.locations import all_locations
from lifecycle.models import (
    DatabaseSetting,
    DropPlanTable,
    RelocationMove,
    RelocationMoveState,
    RelocationPlan,
    ScanSnapshot,
)
from lifecycle.planning.selectors.inputs import WAITING
from lifecycle.relocation.domain.moves import Asked, Immovable, Lake, Move, Relocations
from lifecycle.relocation.domain.refusal import NotNow, Today, not_now
from lifecycle.relocation.services.inspection import Looker, move_line
from lifecycle.rules.domain.conformity import DatabaseFacts, Reason, TableFacts
from lifecycle.rules.domain.templates import DEFAULT_TEMPLATE, Template
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.connectors.name_services.crossing import crossing
from portal.events.models import TableTouch
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.runs.results.parquet import result_tables

MOST_TOUCHED = 500


@dataclass(slots=True)
class RelocationDraft:
    """A relocation plan before it is stored.

    Its lines in order of execution, and what stayed and why.
    """

    items: list[MoveItem] = field(default_factory=list)
    left_out: dict[Name, NotNow | Immovable] = field(default_factory=dict)
    targets: dict[Name, LakePath] = field(default_factory=dict)
    notes: dict[Name, str] = field(default_factory=dict)
    """What is said of what stayed, where it is more than the reason's own words."""
    backup_root: str = ""

    @property
    def content(self) -> bytes:
        """The file of the plan, which its digest covers."""
        return b"".join(move_line(item) for item in self.items)


def fix_draft(
    fix: RelocationPlan, rows: Iterable[RelocationMove], generation: ScanSnapshot, *, now: datetime,
    config: LakeConfig,
) -> RelocationDraft:  # fmt: skip
    """Find the moves for what was asked and look at each; nothing is written.

    Raises:
        StaleState: `fix.touched`, too much of the lake changed since the scan to judge by it.
    """
    lake = scanned_lake(fix.lake, generation, config)
    asked = [_asked(row, lake, config, is_undo=fix.undo_of_id is not None) for row in rows]
    altered = _altered(fix.lake, generation)
    with Metastore.connect(config) as metastore:
        fixes = Relocations(lake, asked)
        for location, name in all_locations(config, generation.results_uri):
            fixes.see(location, name)
        for location, name in _fresh_locations(altered, metastore, config):
            fixes.see(location, name)
        for location, name in _stray_partitions(fix.lake, generation, config):
            fixes.see(location, name)
        found = RelocationDraft(left_out=dict(fixes.refused))
        moves = fixes.moves()
        found.left_out |= fixes.refused
        found.notes = {
            name: crossing(move.source, move.target) for name, move in fixes.across.items()
        }
        today = _today(fix, altered, now=now)
        moves = _not_today(moves, today, found)
        found.backup_root, moves = _of_one_root(moves, config, found)
        for move, seen in Looker(config, metastore).look(moves):
            found.targets[move.name] = move.target
            if isinstance(seen, MoveItem):
                found.items.append(seen)
            else:
                found.left_out[move.name] = seen
    _drop_orphans(found, is_undo=fix.undo_of_id is not None)
    return found


def scanned_lake(lake: str, generation: ScanSnapshot, config: LakeConfig) -> Lake:
    """Read databases and tables as the scan saw them, with the templates of now."""
    databases, tables, broken = {}, {}, {}
    columns: tuple[str, ...] = ("db", "owner", "location")
    for part in result_tables(config, generation.results_uri, "databases", columns=columns):
        for row in part.to_pylist():
            place = _path(row["location"], config)
            databases[row["db"]] = DatabaseFacts(row["db"], row["owner"] or "", place)
    columns = ("db", "tbl", "owner", "location", "reasons")
    for part in result_tables(config, generation.results_uri, "tables", columns=columns):
        for row in part.to_pylist():
            key = (row["db"], row["tbl"])
            place = _path(row["location"], config)
            tables[key] = TableFacts(*key, row["owner"] or "", place)
            if row["reasons"]:
                broken[key] = frozenset(Reason(one) for one in row["reasons"])
    return Lake(databases, tables, broken, _templates(lake, config))


def _asked(row: RelocationMove, lake: Lake, config: LakeConfig, *, is_undo: bool) -> Asked:
    """Return what a row asks for; a table's place is the scan's effective one."""
    name = Name(row.db, row.table, row.partition)
    if is_undo:
        return Asked(name, _path(row.source, config), back_to=_path(row.target, config))
    if row.partition:
        return Asked(name, _path(row.source, config))
    table = lake.tables.get((row.db, row.table))
    return Asked(name, table.location if table else None)


def _altered(lake: str, generation: ScanSnapshot) -> Names:
    touches = TableTouch.objects.filter(lake=lake, altered_event_id__gt=generation.notification_id)
    names = {Name(db, table) for db, table in touches.values_list("db", "table")}
    if len(names) > MOST_TOUCHED:
        raise StaleState(
            "fix.touched",
            f"{len(names)} tables were changed since the last scan. Scan the lake and ask again.",
        )
    return Names.of(names)


def _fresh_locations(
    altered: Names, metastore: Metastore, config: LakeConfig
) -> Iterator[tuple[str, Name]]:
    """Yield where tables lie now that were made or changed since the scan."""
    for db, table in sorted(altered.tables):
        try:
            struct = metastore.table_or_none(TableName(config.lake, db, table))
        except RuleViolation:
            continue
        serde = struct.sd.serdeInfo.parameters if struct and struct.sd.serdeInfo else None
        for text in (struct.sd.location if struct else None, (serde or {}).get("path")):
            place = _path(text, config)
            if place is not None:
                yield str(place), Name(db, table)


def _stray_partitions(
    lake: str, generation: ScanSnapshot, config: LakeConfig
) -> Iterator[tuple[str, Name]]:
    """Return where partitions were put outside their tables since the scan."""
    touches = TableTouch.objects.filter(lake=lake, event_id__gt=generation.notification_id)
    for touch in touches.exclude(stray_places=[]):
        for event_id, text in touch.stray_places:
            place = _path(text, config)
            if place is not None and event_id > generation.notification_id:
                # Which partition of the table it is does not matter: it is in the way.
                yield str(place), Name(touch.db, touch.table, f"event {event_id}")


def _today(fix: RelocationPlan, altered: Names, *, now: datetime) -> Today:
    settings = DatabaseSetting.objects.filter(lake=fix.lake)
    drops = DropPlanTable.objects.filter(lake=fix.lake, plan__state__in=WAITING)
    others = RelocationMove.objects.filter(
        lake=fix.lake, fix__state__in=WAITING, state=RelocationMoveState.PLANNED
    ).exclude(fix=fix)
    names = [Name(*one) for one in drops.values_list("db", "table")]
    names += [Name(*one) for one in others.values_list("db", "table", "partition")]
    holds = holds_active(fix.lake, now=now)
    return Today(
        modes={one.db: DatabaseMode(one.mode) for one in settings},
        holds=Names.of(Name(hold.db, hold.table, hold.partition) for hold in holds),
        # The fix itself altered what its undo brings back; each is looked at again in any case.
        altered=Names() if fix.undo_of_id else altered,
        in_other_plans=Names.of(names),
    )


def _not_today(moves: list[Move], today: Today, found: RelocationDraft) -> list[Move]:
    kept = []
    for move in moves:
        found.targets[move.name] = move.target
        reason = not_now(move.name, today)
        if reason is None:
            kept.append(move)
        else:
            found.left_out[move.name] = reason
    return kept


def _of_one_root(
    moves: list[Move], config: LakeConfig, found: RelocationDraft
) -> tuple[str, list[Move]]:
    """Keep what one backup root can take: a run acts behind one fence on one file system."""
    roots = [config.path(text) for text in config.backup_roots]
    chosen: LakePath | None = None
    kept = []
    for move in moves:
        root = next((one for one in roots if one.same_file_system(move.source)), None)
        if root is None:
            found.left_out[move.name] = NotNow.NO_BACKUP_ROOT
        elif chosen in (None, root):
            chosen = root
            kept.append(move)
        else:
            found.left_out[move.name] = NotNow.OTHER_BACKUP_ROOT
    return str(chosen or ""), kept


def _drop_orphans(found: RelocationDraft, *, is_undo: bool) -> None:
    """A partition does not go below the new place of a table that is left out after all."""
    if is_undo:
        return
    left = {(name.db, name.table) for name in found.left_out if name.table and not name.partition}
    wanted = {(name.db, name.table) for name in found.targets if not name.partition}
    for item in [one for one in found.items if one.partition]:
        key = (item.db, item.table)
        if key in left and key in wanted:
            found.items.remove(item)
            found.left_out[Name(item.db, item.table, item.partition)] = Immovable.TABLE_PLACE


def _templates(lake: str, config: LakeConfig) -> list[Template]:
    """Return each database's own template, then the lake's for all others, as the scan does."""

    def parse(text: str, pattern: str) -> Template:
        return Template.parse(
            text, pattern=pattern, default_fs=config.default_fs, aliases=config.aliases
        )

    own = DatabaseSetting.objects.filter(lake=lake).exclude(template="").order_by("db")
    return [*(parse(one.template, one.db) for one in own), parse(DEFAULT_TEMPLATE, "*")]


def _path(text: str | None, config: LakeConfig) -> LakePath | None:
    try:
        return config.path(text) if text else None
    except RuleViolation:
        return None
