"""What the apply does with the records of each schema of a table, as far as schemas are decided.

Schemas are decided in their order: behind one that waits all later ones are held too, for they may
stand on it. A column that came later is kept aside until somebody says how the lake may have it.
A protection belongs to a column of the lake and goes with it, whatever its source calls it later.

The lake's table may be prepared for a change that was approved before it ran at the source. What it
got stays, whether the change comes or not: Hudi cannot take a column away.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pipelines.cdc.applying.domain.messages import Column, Replay, SchemaPlan
from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.control.domain.spec import safe_name
from pipelines.cdc.protecting.domain.protections import PLAIN, Protection
from pipelines.cdc.schema.domain.classes import SchemaChange
from pipelines.cdc.schema.domain.targets import Needs, TargetChange, target_changes
from pipelines.cdc.schema.domain.type_changes import widens_in_place
from pipelines.cdc.schema.domain.types import lake_type, parse_type

_LONGEST = 128


class Decision(StrEnum):
    """What was decided of a schema."""

    NONE = "none"
    """The first schema of a table, or one that changed nothing."""
    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"

    @property
    def holds(self) -> bool:
        """Whether records of it are kept until it is decided otherwise."""
        return self in {Decision.WAITING, Decision.REFUSED}


class Choice(StrEnum):
    """What the lake may have of a column that came later."""

    PENDING = "pending"
    LIVE = "live"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class DecidedSchema:
    """A schema with what was decided of the change that led to it."""

    schema: TableSchema
    decision: Decision
    changes: tuple[SchemaChange, ...] = ()
    choices: Mapping[str, Choice] = field(default_factory=dict)
    """Of columns that came with it; those without a word are pending."""
    protections: Mapping[str, Protection] = field(default_factory=dict)
    """Of columns that came with it; those without one are plain."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the lake's table got ahead of a change: columns that are new, or wider."""

    after: int
    """Number of the schema that held when it was prepared."""
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """Columns of the lake's table, and what happens to the records of each schema."""

    columns: tuple[Column, ...]
    schemas: tuple[SchemaPlan, ...]
    replays: tuple[Replay, ...]
    refused: tuple[str, ...]
    protections: Mapping[str, Protection] = field(default_factory=dict)
    """Of columns of the lake's table that are not plain."""
    origins: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """With which schema each column of the source came, and its name then."""

    @property
    def live(self) -> Mapping[str, str]:
        """Columns of the lake by those of the newest applied schema."""
        applied = [plan for plan in self.schemas if not plan.is_held]
        return applied[-1].live if applied else {}

    def protection_of(self, source: str) -> Protection:
        """Return the protection of a column of the newest applied schema."""
        return self.protections.get(self.live.get(source, ""), PLAIN)

    @property
    def pending(self) -> tuple[str, ...]:
        """Columns of the newest applied schema that wait for somebody's word."""
        applied = [plan for plan in self.schemas if not plan.is_held]
        return applied[-1].aside if applied else ()


NOTHING = TablePlan((), (), (), ())
"""Of a table that has no schema yet, or begins again."""


def table_plan(decided: Sequence[DecidedSchema], prepared: Sequence[Prepared] = ()) -> TablePlan:
    """Return the plan of a table from its schemas in their order; the first needs no decision."""
    target, plans = _Target(), list[SchemaPlan]()
    is_held = False
    for one in decided:
        is_held = is_held or one.decision.holds or not target.take(one)
        for ahead in prepared:
            if ahead.after == one.schema.number:
                target.prepare(ahead.columns)
        if is_held:
            plans.append(SchemaPlan(one.schema.number, is_held=True))
            continue
        names = one.schema.names
        live = {name: target.names[name] for name in names if name in target.names}
        aside = tuple(name for name in names if target.choices.get(name) is Choice.PENDING)
        plans.append(SchemaPlan(one.schema.number, live=live, aside=aside))
    return TablePlan(
        columns=tuple(Column(name, kind) for name, kind in target.types.items()),
        schemas=tuple(plans),
        replays=tuple(target.replays),
        refused=tuple(
            sorted(name for name, choice in target.choices.items() if choice is Choice.REFUSED)
        ),
        protections={name: one for name, one in target.protections.items() if one != PLAIN},
        origins=target.origins,
    )


def choices_of(stored: Mapping[str, str]) -> tuple[dict[str, Choice], dict[str, Protection]]:
    """Read what was said of columns: `refused`, or the protection with which they are live."""
    said = {name: choice_of(text) for name, text in stored.items()}
    return (
        {name: choice for name, (choice, _) in said.items()},
        {name: protection for name, (_, protection) in said.items()},
    )


def choice_of(text: str) -> tuple[Choice, Protection]:
    """Read what was said of one column.

    Raises:
        RuleViolation: `cdc.protection`.
    """
    if text in {Choice.PENDING.value, Choice.REFUSED.value}:
        return Choice(text), PLAIN
    return Choice.LIVE, Protection.parse(text)


class _Target:
    """The lake's table as it grows with each schema."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        """The lake's column by the source's, of those that are live."""
        self.types: dict[str, str] = {}
        self.protections: dict[str, Protection] = {}
        """By the lake's column."""
        self.choices: dict[str, Choice] = {}
        """Of columns that came later."""
        self.origins: dict[str, tuple[int, str]] = {}
        self.replays: list[Replay] = []
        self._spare: set[str] = set()
        """Columns that were prepared and that no column of the source has yet."""
        self._is_new = True

    def prepare(self, columns: Iterable[Column]) -> None:
        """Add what the table got ahead of a change, or widen what it has."""
        for column in columns:
            if column.name not in self.types:
                self._spare.add(column.name)
            self.types[column.name] = column.type

    def take(self, one: DecidedSchema) -> bool:
        """Add what a schema brings; False where the table would have to be built again."""
        if self._is_new:
            self._is_new = False
            for column in one.schema.columns:
                name, protection = column.name, one.protections.get(column.name, PLAIN)
                self._add(name, lake_type(parse_type(column.type)), protection)
                self.origins[name] = one.schema.number, name
            return True
        # A column of the key or of the partitioning is judged by whoever decides.
        needed = target_changes(one.changes, fixed=one.schema.key)
        if any(change.needs is Needs.REBUILD for change in needed):
            return False
        for gone in _dropped(one.changes):
            self.names.pop(gone, None)
            self.choices.pop(gone, None)
            self.origins.pop(gone, None)
        for change in needed:
            self._alter(change, one)
        return True

    def _alter(self, change: TargetChange, one: DecidedSchema) -> None:
        former = change.source or change.column
        if change.needs is Needs.ADD:
            self._choose(change, one)
        elif former not in self.names:
            self._rename_choice(former, change.column)
        elif change.needs is Needs.WIDEN:
            self._widen(change, one.schema.number)
        else:
            self._copy(former, change, one.schema.number)

    def _widen(self, change: TargetChange, number: int) -> None:
        """Widen a column; one that was prepared may be wider already, or of another type."""
        lake = self.names[change.column]
        wanted = self.protections[lake].lake_type(change.type)
        if widens_in_place(self.types[lake], wanted):
            self.types[lake] = wanted
        elif not widens_in_place(wanted, self.types[lake]):
            self._add(change.column, change.type, self.protections[lake], suffix=f"_{number}")

    def _copy(self, former: str, change: TargetChange, number: int) -> None:
        """Keep the lake's column where it has room, as of one that was only renamed; else add."""
        before = self.names.pop(former)
        protection = self.protections[before]
        if former != change.column:
            self._rename_choice(former, change.column)
            if self.choices.get(change.column) is Choice.LIVE:
                self._replay(number, change.column)
        if self.types[before] == protection.lake_type(change.type):
            self.names[change.column] = before
        else:
            suffix = f"_{number}" if former == change.column else ""
            self._add(change.column, change.type, protection, suffix=suffix)

    def _rename_choice(self, former: str, column: str) -> None:
        """Carry what was said of a column, and that nothing was said, to its new name."""
        if former in self.choices:
            self.choices[column] = self.choices.pop(former)
        if former in self.origins:
            self.origins[column] = self.origins.pop(former)

    def _choose(self, change: TargetChange, one: DecidedSchema) -> None:
        number, name = one.schema.number, change.column
        choice = one.choices.get(name, Choice.PENDING)
        self.choices[name], self.origins[name] = choice, (number, name)
        if choice is Choice.LIVE:
            self._add(name, change.type, one.protections.get(name, PLAIN))
            self._replay(number, name)

    def _replay(self, number: int, column: str) -> None:
        self.replays.append(Replay(f"{number}:{column}", (column,)))

    def _add(self, name: str, plain: str, protection: Protection, *, suffix: str = "") -> None:
        kind = protection.lake_type(plain)
        lake = f"{safe_name(name)}{suffix}"[:_LONGEST]
        if lake in self._spare and self.types[lake] == kind:
            self._spare.remove(lake)
        else:
            lake = _free(lake, self.types)
        self.names[name], self.types[lake] = lake, kind
        self.protections[lake] = protection


def _dropped(changes: Iterable[SchemaChange]) -> list[str]:
    return [one.column for one in changes if one.what == "drop"]


def _free(name: str, taken: Mapping[str, str]) -> str:
    found, number = name[:_LONGEST], 2
    while found in taken:
        found, number = f"{name[: _LONGEST - 5]}_{number}", number + 1
    return found
