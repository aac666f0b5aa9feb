"""Keeps the index of names up to date: a tick takes in what the catalog has written since.

A turn compares the catalog with what is indexed, so one that was missed, done twice or broken off
is made up for by the next. Nothing of the lake is kept in memory but a chunk.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef

from portal.catalog.models import Table
from portal.catalog.selectors import tables_living
from portal.search.domain.typos import stored_keys
from portal.search.domain.words import name_words
from portal.search.models import DatabaseWord, IndexedTable, TableWord, Word, WordKey

CHUNK = 500


def index_catch_up(lake: str, *, now: datetime) -> int:
    """Index the tables of a lake that are new or renamed, forget deleted ones; return how many.

    Called again it changes nothing.
    """
    del now  # a tick is told the time; the index follows the catalog, whatever the time
    n_changed = 0
    while removed := _deleted(lake):
        _forget(lake, removed)
        n_changed += len(removed)
    after = 0
    while unindexed := _unindexed(lake, after):
        _index(lake, unindexed)
        after = unindexed[-1].pk
        n_changed += len(unindexed)
    return n_changed


def _unindexed(lake: str, after: int) -> Sequence[Table]:
    """Return living tables that are not indexed under the name that they have, some at a time."""
    indexed = IndexedTable.objects.filter(table=OuterRef("pk"), db=OuterRef("db"))
    rows = tables_living(lake).filter(~Exists(indexed.filter(name=OuterRef("name"))), pk__gt=after)
    return list(rows.only("db", "name").order_by("pk")[:CHUNK])


def _deleted(lake: str) -> list[int]:
    rows = Table.objects.filter(lake=lake, deleted_at__isnull=False, indexed__isnull=False)
    return list(rows.values_list("pk", flat=True)[:CHUNK])


@transaction.atomic
def _index(lake: str, tables: Sequence[Table]) -> None:
    keys = [table.pk for table in tables]
    renamed = IndexedTable.objects.filter(table__in=keys).values_list("table", flat=True)
    _unlink(lake, list(renamed))
    of_table = {table.pk: name_words(table.name) for table in tables}
    dbs = {table.db for table in tables}
    known = DatabaseWord.objects.filter(lake=lake, db__in=dbs).values_list("db", flat=True)
    of_db = {db: name_words(db) for db in sorted(dbs - set(known))}
    words = _words(lake, {word for some in (*of_table.values(), *of_db.values()) for word in some})
    DatabaseWord.objects.bulk_create(
        [
            DatabaseWord(word_id=words[word], lake=lake, db=db)
            for db, some in of_db.items()
            for word in some
        ],
        ignore_conflicts=True,
    )
    TableWord.objects.bulk_create(
        [
            TableWord(word_id=words[word], table=table, n_chars=len(table.name))
            for table in tables
            for word in of_table[table.pk]
        ],
        ignore_conflicts=True,
    )
    IndexedTable.objects.bulk_create(
        [IndexedTable(table=table, db=table.db, name=table.name) for table in tables],
        ignore_conflicts=True,
    )


def _words(lake: str, texts: Collection[str]) -> dict[str, int]:
    """Return the ids of words; those that the lake did not have yet are written with their keys."""
    found = _word_ids(lake, texts)
    new = sorted(set(texts) - found.keys())
    if not new:
        return found
    Word.objects.bulk_create([Word(lake=lake, text=text) for text in new], ignore_conflicts=True)
    written = _word_ids(lake, new)
    WordKey.objects.bulk_create(
        [
            WordKey(lake=lake, text=key, word_id=word)
            for text, word in written.items()
            for key in sorted(stored_keys(text))
        ],
        ignore_conflicts=True,
        batch_size=2_000,
    )
    return found | written


def _word_ids(lake: str, texts: Iterable[str]) -> dict[str, int]:
    rows = Word.objects.filter(lake=lake, text__in=list(texts))
    return dict(rows.values_list("text", "pk"))


@transaction.atomic
def _forget(lake: str, keys: Sequence[int]) -> None:
    _unlink(lake, keys)


def _unlink(lake: str, keys: Sequence[int]) -> None:
    """Take tables out of the index, and with the last of a name its words."""
    if not keys:
        return
    dbs = set(IndexedTable.objects.filter(table__in=keys).values_list("db", flat=True))
    links = TableWord.objects.filter(table__in=keys)
    words = set(links.values_list("word", flat=True))
    links.delete()
    IndexedTable.objects.filter(table__in=keys).delete()
    left = tables_living(lake).filter(db=OuterRef("db"))
    emptied = DatabaseWord.objects.filter(~Exists(left), lake=lake, db__in=dbs)
    words |= set(emptied.values_list("word", flat=True))
    emptied.delete()
    unused = Word.objects.filter(
        ~Exists(TableWord.objects.filter(word=OuterRef("pk"))),
        ~Exists(DatabaseWord.objects.filter(word=OuterRef("pk"))),
        pk__in=words,
    )
    for word in list(unused.values_list("pk", flat=True)):
        WordKey.objects.filter(word=word).delete()
        Word.objects.filter(pk=word).delete()
