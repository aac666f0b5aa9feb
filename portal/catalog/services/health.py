"""Keeps the health of every table as judged last, so that a list can begin with the worst.

The page of a table reads its areas itself. This goes over the tables of a lake in
slices, round after round; `HealthRound.judged_at` says how old what a list shows may be.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from portal.catalog.domain.health import Finding, worst_of
from portal.catalog.models import SENTENCE_CHARS, HealthRound, Table, TablePart
from portal.catalog.selectors import tables_living
from portal.catalog.services.registry import read_health
from portal.runs.kinds.ticks import Tick, register_tick

EVERY = timedelta(minutes=1)
BATCH = 200
BATCHES_A_TURN = 25


def register_health_tick() -> None:
    """Let the scheduler judge a slice of the tables at every turn."""
    register_tick(Tick("catalog.health", EVERY, health_turn))


def health_turn(lake: str, *, now: datetime) -> int:
    """Judge the next tables of a lake; returns how many. Called again, it goes on."""
    going, _ = HealthRound.objects.get_or_create(lake=lake, defaults={"began_at": now})
    if going.after == 0:
        going.began_at = now
    n_judged = 0
    for _ in range(BATCHES_A_TURN):
        tables = list(tables_living(lake).filter(pk__gt=going.after).order_by("pk")[:BATCH])
        if tables:
            health_record(lake, tables, now=now)
            going.after = tables[-1].pk
            n_judged += len(tables)
        if len(tables) < BATCH:
            going.after, going.judged_at = 0, going.began_at
            break
    going.save()
    return n_judged


@transaction.atomic
def health_record(lake: str, tables: Sequence[Table], *, now: datetime) -> int:
    """Write down how tables stand now; returns how many parts changed. A second call changes none.

    Six statements and those of the areas, however many tables there are.
    """
    found = read_health(lake, tables)
    stored = {(row.table_id, row.part): row for row in TablePart.objects.filter(table__in=tables)}
    made, changed = [], []
    for key, parts in found.items():
        for part, finding in parts.items():
            sentence = finding.sentence[:SENTENCE_CHARS]
            row = stored.pop((key, part), None)
            if row is None:
                made.append(_part(key, part, finding, now))
            elif (row.level, row.sentence) != (finding.level, sentence):
                row.since = row.since if row.level == finding.level else now
                row.level, row.sentence = finding.level.value, sentence
                changed.append(row)
    TablePart.objects.filter(pk__in=[row.pk for row in stored.values()]).delete()
    # Two schedulers may judge the same tables at once.
    TablePart.objects.bulk_create(made, ignore_conflicts=True)
    TablePart.objects.bulk_update(changed, ["level", "sentence", "since"])
    moved = []
    for table in tables:
        level = worst_of(found[table.pk].values()).value
        if table.level != level:
            table.level = level
            moved.append(table)
    Table.objects.bulk_update(moved, ["level"])
    return len(made) + len(changed) + len(stored)


def _part(key: int, part: str, finding: Finding, now: datetime) -> TablePart:
    sentence = finding.sentence[:SENTENCE_CHARS]
    return TablePart(
        table_id=key, part=part, level=finding.level.value, sentence=sentence, since=now
    )
