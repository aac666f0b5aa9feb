"""What changed: of a proposal since it was read, and against the last one of its tables.

A kind that names its `contents` is compared with the newest earlier one of its biggest tables, and
unfolds each table to ranges of partitions, as far as its reader sees both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.functions import Concat

from portal.access.models import User
from portal.approvals.models import Approval, Proposal
from portal.lake.errors import NotVisible, StaleState

P = TypeVar("P", bound=Proposal)
Rows = QuerySet[Any]
TABLES_COMPARED = 20
"""Of how many of its tables, the biggest, an earlier proposal is looked for."""
RANGES_SHOWN = 200
SHOWN = 12
"""How many signs of a digest tell two contents apart for a reader."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Where the rows of what a kind's proposals hold are, each of one `db` and `table`."""

    rows: Callable[[User], Rows]
    """The rows of all proposals that a person may see."""
    of: str
    """The name of their foreign key to the proposal."""
    same: tuple[str, ...]
    """What is alike in two rows that say the same of one table."""
    unit: str = "item"
    items: str = "n_items"
    """The column that counts; empty = each row is one."""
    size: str = "n_bytes"
    lake: str = "lake"
    has_many_rows_a_table: bool = False
    empty_states: tuple[str, ...] = ("DRAFTING", "NOT_CREATED")
    """The states of a proposal that holds nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Share:
    """Some tables of a proposal in numbers."""

    n_tables: int
    n_items: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Changes:
    """How a proposal differs from the last one of its tables; without numbers, only which it is."""

    previous: Proposal
    url: str
    unit: str = "item"
    now: Share | None = None
    before: Share | None = None
    new: Share | None = None
    """In tables that the last one did not have."""
    gone: Share | None = None
    """In tables of the last one that this one does not have."""
    n_unchanged: int | None = None
    """Rows that say exactly the same in both."""
    is_by_table: bool = True

    @property
    def items_more(self) -> int:
        """How many items more this one has; below zero, how many fewer."""
        return self.now.n_items - self.before.n_items if self.now and self.before else 0

    @property
    def bytes_more(self) -> int:
        """How many bytes more this one has; below zero, how many fewer."""
        return self.now.n_bytes - self.before.n_bytes if self.now and self.before else 0


@dataclass(frozen=True, slots=True)
class Range:
    """Partitions of a table that follow each other; of a table without any, the table itself."""

    first: str
    last: str
    n_items: int
    n_bytes: int | None = None
    note: str = ""


class Compared(Generic[P]):
    """What a kind of proposal offers to compare; each kind says where its contents are."""

    contents: ClassVar[Contents | None] = None

    def visible(self, lake: str, user: User) -> QuerySet[P]:
        """Return the proposals of a lake that a person may see."""
        raise NotImplementedError

    def url_of(self, proposal: P) -> str:
        """Return the address of its page."""
        raise NotImplementedError

    def lake_of(self, proposal: P) -> str:
        """Return the lake of a proposal."""
        raise NotImplementedError

    def ranges(self, proposal: P, db: str, table: str) -> Sequence[Range]:
        """Return the partition ranges of one of its tables; nothing where none are known."""
        return ()

    def ranges_for_user(self, proposal: P, db: str, table: str, *, user: User) -> Sequence[Range]:
        """Return the ranges of a table that the person may see.

        Raises:
            NotVisible: `approval.table`, no such table is in it for this person.
        """
        its = self.contents
        if its is not None:
            mine = its.rows(user).filter(**{its.of: proposal, "db": db, "table": table})
            if mine.exists():
                return self.ranges(proposal, db, table)
        raise NotVisible("approval.table", "There is no such table in this proposal for you.")

    def changes(self, proposal: P, user: User) -> Changes | None:
        """Compare a proposal with the last one of its tables; None where there is none.

        A fixed number of queries, whatever their size.
        """
        its = self.contents
        if its is None:
            return None
        every = its.rows(user)
        mine = every.filter(**{its.of: proposal})
        last = _last(its, every, mine, lake=self.lake_of(proposal), before=proposal.created_at)
        rows = self.visible(self.lake_of(proposal), user).filter(pk=last) if last else None
        previous = rows.first() if rows is not None else None
        if previous is None:
            return None
        theirs = every.filter(**{its.of: previous})
        table = {"db": OuterRef("db"), "table": OuterRef("table")}
        alike = theirs.filter(**table, **{name: OuterRef(name) for name in its.same})
        return Changes(
            previous=previous,
            url=self.url_of(previous),
            unit=its.unit,
            now=_share(its, mine),
            before=_share(its, theirs),
            new=_share(its, mine.exclude(Exists(theirs.filter(**table)))),
            gone=_share(its, theirs.exclude(Exists(mine.filter(**table)))),
            n_unchanged=mine.filter(Exists(alike)).count(),
            is_by_table=not its.has_many_rows_a_table,
        )


def _last(its: Contents, every: Rows, mine: Rows, *, lake: str, before: datetime) -> Any:
    """Return the key of the newest earlier proposal with one of the biggest tables."""
    by_size = mine.order_by(f"-{its.size}") if its.size else mine.order_by("db", "table")
    wanted = Q()
    for db, table in by_size.values_list("db", "table")[:TABLES_COMPARED]:
        wanted |= Q(db=db, table=table)
    if not wanted:
        return None
    earlier = every.filter(wanted, **{its.lake: lake, f"{its.of}__created_at__lt": before}).exclude(
        **{f"{its.of}__state__in": its.empty_states}
    )
    return earlier.order_by(f"-{its.of}__created_at").values_list(its.of, flat=True).first()


def _share(its: Contents, rows: Rows) -> Share:
    table = Concat("db", Value("."), "table")
    found = rows.aggregate(
        tables=Count(table, distinct=True) if its.has_many_rows_a_table else Count("pk"),
        items=Sum(its.items) if its.items else Count("pk"),
        size=Sum(its.size) if its.size else Value(0),
    )
    return Share(found["tables"], found["items"] or 0, found["size"] or 0)


def stale_content(
    said: tuple[str, str], proposal: Proposal, *, read: str, is_told: bool, page: str
) -> StaleState:
    """Return the refusal of a decision on the content with the digest `read`.

    What was asked under that digest is compared with what is asked now, for who may decide.
    """
    code, message = said
    changes = _changes(proposal, read) if is_told else []
    digests = f"Digest: {_short(read)} was read, {_short(proposal.digest)} is asked now"
    return StaleState(code, message, changes="; ".join([*changes, digests]), page=page)


def _changes(proposal: Proposal, read: str) -> list[str]:
    approval = proposal.approval
    if approval is None or not read:
        return []
    if read == proposal.digest:
        return ["Its content was changed after people were asked"]
    rows = Approval.objects.filter(kind=approval.kind, object_id=approval.object_id, digest=read)
    earlier = rows.order_by("-created_at").first()
    if earlier is None:
        return [f"Asked now: {proposal.effect.words or proposal.title}"]
    return _differences(earlier.summary, approval.summary) or ["The list of its items"]


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    names = [*now, *(name for name in then if name not in now)]
    return [
        f"{_words(name)}: {_value(then, name)} then, {_value(now, name)} now"
        for name in names
        if then.get(name) != now.get(name)
    ]


def _words(name: str) -> str:
    return name.removeprefix("n_").replace("_", " ").capitalize()


def _value(summary: Mapping[str, Any], name: str) -> str:
    value = summary.get(name, "nothing")
    return f"{value:,}" if isinstance(value, int) else str(value)


def _short(digest: str) -> str:
    return digest[:SHOWN] or "none"
