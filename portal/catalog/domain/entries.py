"""Decides what events and scans make of the catalog's entries. Pure.

The metastore numbers its events, so of each name the event with the highest number decides, in
whatever order events arrive and however often. A scan counts as an event with the number that the
log had when it began to read.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

Name = tuple[str, str]
"""A database and a table."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What the metastore says of a table, as far as the catalog keeps it."""

    format: str
    uuid: str = ""
    location: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class TableChange:
    """What one event did: `after` is the table as it is since, None where there is none.

    `former` is the name that a renamed table had until then.
    """

    event_id: int
    db: str
    name: str
    after: TableFacts | None = None
    former: Name | None = None
    is_created: bool = False
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table as a scan read it; `metastore_id` is the metastore's own number for it."""

    db: str
    name: str
    facts: TableFacts
    db_owner: str = ""
    metastore_id: int | None = None
    created_at: datetime | None = None


@dataclass(slots=True, eq=False)
class Entry:
    """One table of the catalog; without a key it is not stored yet.

    `event_id` is the event that last decided about it; `db_owner` is None while it is not known.
    """

    db: str
    name: str
    facts: TableFacts
    event_id: int
    first_seen_at: datetime
    last_seen_at: datetime
    deleted_at: datetime | None = None
    db_owner: str | None = None
    metastore_id: int | None = None
    created_at: datetime | None = None
    key: int | None = None

    @property
    def full_name(self) -> Name:
        """Its database and name."""
        return self.db, self.name

    def is_same(self, listed: ListedTable) -> bool:
        """Whether a scan's table is this one: by uuid, by the metastore's number, by its age."""
        if self.facts.uuid and listed.facts.uuid:
            return self.facts.uuid == listed.facts.uuid
        # A metastore that was set up again hands its numbers out again, for other tables.
        if None not in {self.created_at, listed.created_at} and self.created_at != (
            listed.created_at
        ):
            return False
        numbers = {self.metastore_id, listed.metastore_id}
        return None in numbers or len(numbers) == 1


@dataclass(slots=True)
class Entries:
    """The entries that some names and tables of a lake have, as they will be written.

    `decided` holds, for each name, the number of the event that decided about it last; `left` those
    after which no table has the name any more. `freed` are the keys of stored entries that give up
    a name, which another may take at once.
    """

    living: dict[Name, Entry] = field(default_factory=dict)
    decided: dict[Name, int] = field(default_factory=dict)
    left: dict[Name, int] = field(default_factory=dict)
    touched: dict[int, Entry] = field(default_factory=dict)
    freed: set[int] = field(default_factory=set)
    _numbered: defaultdict[str | int, list[Entry]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, entry: Entry) -> None:
        """Take a stored entry in."""
        self._number(entry)
        if entry.deleted_at is None:
            self.living[entry.full_name] = entry
            self.decide(entry.full_name, entry.event_id)

    def decide(self, name: Name, event_id: int) -> None:
        """Remember which event decided about a name."""
        self.decided[name] = max(event_id, self.decided.get(name, event_id))

    def apply(self, change: TableChange, *, at: datetime) -> None:
        """Take one event in; one that is older than what is known of its names changes nothing."""
        name = (change.db, change.name)
        renamed = None
        if change.former is not None and self._is_news(change.former, change.event_id):
            renamed = self._leave(change.former, change.event_id)
        if not self._is_news(name, change.event_id):
            # The name means another table since, and how this one went on was not seen.
            self.end(renamed, at=at)
        elif change.after is None:
            self.end(renamed, at=at)
            self.end(self._leave(name, change.event_id), at=at)
        else:
            self._set(change, change.after, renamed, at=at)

    def apply_listed(self, listed: ListedTable, *, event_id: int, at: datetime) -> None:
        """Take in one table of a scan that began to read at this event and instant."""
        name = (listed.db, listed.name)
        if self.decided.get(name, event_id) > event_id:
            return
        entry = self.living.get(name)
        if entry is None or not entry.is_same(listed):
            self.end(entry, at=at)
            entry = self._known(listed, event_id)
        if entry is None:
            entry = Entry(*name, listed.facts, event_id, at, at)
        self._put(entry, name, event_id, at=at)
        entry.facts, entry.db_owner = listed.facts, listed.db_owner
        entry.metastore_id = listed.metastore_id
        entry.created_at = listed.created_at or entry.created_at

    def _set(
        self, change: TableChange, after: TableFacts, renamed: Entry | None, *, at: datetime
    ) -> None:
        """Let a name mean a table from an event on."""
        name = (change.db, change.name)
        here = self.living.get(name)
        entry = renamed or here
        if entry is not here:
            self.end(here, at=at)
        if entry is not None and (change.is_created or _is_other(entry.facts, after)):
            self.end(entry, at=at)
            entry = None
        if entry is None:
            entry = self._registered_before(after)
        if entry is None:
            entry = Entry(*name, after, change.event_id, at, at)
        self._put(entry, name, change.event_id, at=at)
        entry.facts = after
        entry.created_at = change.created_at or entry.created_at

    def _is_news(self, name: Name, event_id: int) -> bool:
        return event_id > self.decided.get(name, -1)

    def _leave(self, name: Name, event_id: int) -> Entry | None:
        """Take a name from its table, if one has it; no older event gives it to one again."""
        self.decide(name, event_id)
        self.left[name] = event_id
        entry = self.living.pop(name, None)
        if entry is not None:
            self._free(entry)
            entry.event_id = event_id
        return entry

    def end(self, entry: Entry | None, *, at: datetime) -> None:
        """Let a table be deleted, if there is one; its entry stays and may come back."""
        if entry is None:
            return
        if self.living.get(entry.full_name) is entry:
            del self.living[entry.full_name]
        self._free(entry)
        entry.deleted_at = at
        self._number(entry)
        self.touched[id(entry)] = entry

    def _put(self, entry: Entry, name: Name, event_id: int, *, at: datetime) -> None:
        """Let a name mean an entry, which then has no other name."""
        if entry.full_name != name:
            if self.living.get(entry.full_name) is entry:
                del self.living[entry.full_name]
            self._free(entry)
            if entry.db != name[0]:
                entry.db_owner = None
            entry.db, entry.name = name
        self.living[name] = entry
        self.left.pop(name, None)
        self.decide(name, event_id)
        entry.event_id, entry.deleted_at = event_id, None
        entry.last_seen_at = max(entry.last_seen_at, at)
        self.touched[id(entry)] = entry

    def _free(self, entry: Entry) -> None:
        if entry.key is not None:
            self.freed.add(entry.key)

    def _number(self, entry: Entry) -> None:
        """Make an entry known by its uuid and by the metastore's number for it."""
        for number in (entry.facts.uuid, entry.metastore_id):
            if number and entry not in self._numbered[number]:
                self._numbered[number].append(entry)

    def _registered_before(self, after: TableFacts) -> Entry | None:
        """Return the entry of a deleted table whose uuid is that of one registered now."""
        known = self._numbered[after.uuid] if after.uuid else ()
        return max((one for one in known if one.deleted_at), key=_last_seen, default=None)

    def _known(self, listed: ListedTable, event_id: int) -> Entry | None:
        """Return the entry of a listed table that has or had another name, or was deleted.

        One uuid may be registered by two names at once, so only the metastore's number takes an
        entry away from a name. What an event after the scan decided about is left alone.
        """
        again = self._registered_before(listed.facts)
        number = listed.metastore_id
        known = [again] if again is not None else []
        known += [one for one in self._numbered[number] if one.created_at] if number else []
        same = (one for one in known if one.is_same(listed) and one.event_id <= event_id)
        return max(same, key=_last_seen, default=None)


def _is_other(before: TableFacts, after: TableFacts) -> bool:
    """Whether the uuids say that a name means another table now; a writer may tell none."""
    return bool(before.uuid and after.uuid and before.uuid != after.uuid)


def _last_seen(entry: Entry) -> tuple[bool, datetime]:
    return entry.deleted_at is None, entry.last_seen_at
