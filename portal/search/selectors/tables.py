"""Finds tables and databases by parts of their names.

Every typed word begins a word of the name, or of the database's; at least one is of the table's own
name. Where fewer are found than fit, words with typos are compared too; their tables follow.

What is read is bounded by what is shown: of the rarer typed word the tables are read in the order
in which they are shown, and the other words are looked up for each of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Length

from portal.access.models import User
from portal.access.visibility import visible_to
from portal.catalog.models import Table
from portal.catalog.selectors import tables_visible
from portal.search.domain.typos import distances
from portal.search.domain.words import Typed, folded, name_words, read_typed
from portal.search.models import DatabaseWord, TableWord
from portal.search.selectors.vocabulary import near_words, respelled, words_begun

RANKED = 60
"""How many tables are compared with each other to find the best."""
WORDS = 300
"""How many stored words a typed one may begin; of more the shortest are taken."""
AT_ONCE = (1, 8, WORDS)
"""How many of those words are looked up together: most often the first has enough tables."""
DATABASES = 50
"""How many databases are compared by their names; of more, each table's is looked up."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The stored words that a typed one may mean."""

    words: list[int]
    """The best first."""

    @property
    def is_in_name(self) -> Q:
        """The condition for rows of `TableWord` whose table has one of the words in its name."""
        same = TableWord.objects.filter(table=OuterRef("table"), word__in=self.words)
        return Q(Exists(same))

    def is_in_database(self, dbs: Sequence[str]) -> Q:
        """The condition for rows of `TableWord` whose database, one of `dbs`, has such a word."""
        if len(dbs) <= DATABASES:
            return Q(table__db__in=dbs)
        same = DatabaseWord.objects.filter(db=OuterRef("table__db"), word__in=self.words)
        return Q(Exists(same))


def tables_found(user: User, lake: str, text: str, limit: int) -> list[Table]:
    """Return the visible tables that a typed text means, the best first."""
    typed = read_typed(text)
    if not typed.words:
        return _in_database(user, lake, typed.db_words, limit) if typed.db_words else []
    words, db_words = _parts(lake, typed.words), _parts(lake, typed.db_words)
    best: dict[int, Table] = {}
    before: tuple[dict[str, Meant], dict[str, Meant]] | None = None
    for is_near in (False, True):
        meant = _meant_by(lake, words, is_near=is_near)
        of_db = _meant_by(lake, db_words, is_near=is_near)
        if (meant, of_db) == before:
            break
        before = meant, of_db
        keys = _keys(user, [*meant.values()], [*of_db.values()]) - best.keys()
        rows = Table.objects.filter(pk__in=keys).only("lake", "db", "name", "format", "owner")
        for row in sorted(rows, key=partial(_rank, typed=typed, words=[*meant])):
            best.setdefault(row.pk, row)
        if len(best) >= limit:
            break
    return list(best.values())[:limit]


def databases_found(user: User, lake: str, text: str, limit: int) -> list[str]:
    """Return the databases with a visible table that a typed text means, the best first."""
    typed = read_typed(text)
    asked = typed.db_words or typed.words
    if not asked or (typed.words and typed.db_words):  # nothing, or a table
        return []
    words = _parts(lake, asked)
    found: list[str] = []
    for is_near in (False, True):
        found = _with_all([*_meant_by(lake, words, is_near=is_near).values()])
        if found:
            break
    seen = tables_visible(lake, user).filter(db__in=found)
    wanted = folded(text).strip(". ")
    return sorted(
        set(seen.order_by().values_list("db", flat=True).distinct()),
        key=lambda db: (folded(db) != wanted, not folded(db).startswith(wanted), len(db), db),
    )[:limit]


def _in_database(user: User, lake: str, words: Sequence[str], limit: int) -> list[Table]:
    """Return the first tables of the database that `database.` means."""
    found = _with_all([*_meant_by(lake, _parts(lake, words), is_near=False).values()])
    return list(tables_visible(lake, user).filter(db__in=found[:1]).order_by("name")[:limit])


def _parts(lake: str, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return each typed word with the words that it is made of; mostly itself."""
    return {word: respelled(lake, (word,)) for word in words}


def _meant_by(
    lake: str, words: Mapping[str, tuple[str, ...]], *, is_near: bool
) -> dict[str, Meant]:
    """Return the stored words that each typed one begins, or those that it misspells.

    A word that two others happen to make may be a misspelled one: `bugdet` is `budget` in a lake
    that has `bug` and `det`.
    """
    found: dict[str, Meant] = {}
    for word, parts in words.items():
        whole = near_words(lake, word) if is_near and parts != (word,) else []
        if whole:
            found[word] = Meant([one.key for one in whole])
            continue
        for part in parts:
            if part not in found:
                found[part] = _meant(lake, part, is_near=is_near)
    return found


def _meant(lake: str, word: str, *, is_near: bool) -> Meant:
    """Return the stored words that a typed one begins, or those that it misspells."""
    ids = [one.key for one in near_words(lake, word)] if is_near else []
    return Meant(ids or list(words_begun(lake, word).values_list("pk", flat=True)[:WORDS]))


def _with_all(meant: Sequence[Meant]) -> list[str]:
    """Return the databases whose names have every word, the shortest first."""
    first, *others = sorted(meant, key=lambda one: len(one.words))
    rows = DatabaseWord.objects.filter(word__in=first.words)
    for one in others:
        same = DatabaseWord.objects.filter(db=OuterRef("db"), word__in=one.words)
        rows = rows.filter(Exists(same))
    return _shortest(rows, DATABASES)


def _shortest(rows: QuerySet[DatabaseWord], most: int) -> list[str]:
    names = rows.order_by(Length("db"), "db").values_list("db", flat=True)
    return list(names.distinct()[:most])


def _keys(user: User, meant: Sequence[Meant], of_db: Sequence[Meant]) -> set[int]:
    """Return the tables whose names have every word; those of `of_db` are the database's."""
    visible = visible_to(user, prefix="table__", owners=("owner", "db_owner"))
    rows = TableWord.objects.filter(visible, table__is_living=True)
    if of_db:
        rows = rows.filter(table__db__in=_with_all(of_db))
        return _led_by(min(meant, key=lambda one: len(one.words)), meant, rows)
    dbs = [_databases_with(one) for one in meant]
    in_name = [one for one, some in zip(meant, dbs, strict=True) if not some]
    if in_name:
        return _led_by(min(in_name, key=lambda one: len(one.words)), meant, rows, dbs)
    found: set[int] = set()
    for one in meant:
        found |= _led_by(one, meant, rows, dbs)
    return found


def _databases_with(meant: Meant) -> list[str]:
    """Return the databases whose names have a word; one more than are compared by name."""
    return _shortest(DatabaseWord.objects.filter(word__in=meant.words), DATABASES + 1)


def _led_by(
    first: Meant,
    meant: Sequence[Meant],
    rows: QuerySet[TableWord],
    dbs: Sequence[Sequence[str]] = (),
) -> set[int]:
    """Return tables with a word of `first` in their names, and every other one beside it.

    Where there are `dbs`, those with each of the words, another word may be the database's.
    """
    for at, one in enumerate(meant):
        named = dbs[at] if dbs else ()
        if one is not first:
            is_of_db = one.is_in_database(named) if named else Q()
            rows = rows.filter(one.is_in_name | is_of_db)
    found: set[int] = set()
    for some in _batches(first.words):
        shortest = rows.filter(word__in=some).order_by("n_chars", "table")
        found |= set(shortest.values_list("table", flat=True)[:RANKED])
        if len(found) >= RANKED:
            break
    return found


def _batches(words: Sequence[int]) -> Iterator[Sequence[int]]:
    at = 0
    for n_words in AT_ONCE:
        if words[at : at + n_words]:
            yield words[at : at + n_words]
        at += n_words


def _rank(row: Table, typed: Typed, words: Sequence[str]) -> tuple[object, ...]:
    """Return the order of a table: its whole name, its beginning, then the nearest words."""
    name, whole = folded(row.name), folded(f"{row.db}.{row.name}")
    own = name_words(row.name) or ("",)
    near = [min(distances(word, one) for one in own) for word in words]
    return (
        typed.text not in (name, whole),
        not (name.startswith(typed.text) or whole.startswith(typed.text)),
        sum(begun for begun, _ in near),
        sum(whole_word for _, whole_word in near),
        len(name),
        row.db,
        row.name,
    )
