"""Takes in what comparisons came to, and writes to people of tables that differ."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from pipelines.cdc.reconciling.domain.messages import Proof
from pipelines.models import CapturedTable, DifferingKey, TableComparison
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.counts import count_words
from portal.lake.lines import one_line
from portal.notices.letters import Letter, Row, letter_mail
from portal.notices.reached import notified_staff
from portal.notices.services import notice_queue, webhook_queue
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.results.json_files import json_results

DIFFERS = "pipelines.cdc_differs"
KEPT = 60
"""Comparisons of a table that are kept."""
_CHUNK = 2_000
_COUNTS = (
    *("state", "note", "position", "n_rows", "n_lake", "n_ranges", "n_ranges_differing"),
    *("n_rounds", "n_missing", "n_extra", "n_different", "n_unfit", "n_changing", "seconds"),
)


def comparisons_take(run: Run, *, now: datetime) -> int:
    """Take in what a run compared; again it changes nothing. Returns how many tables there were."""
    n_tables = 0
    for found in json_results(open_spool(run), "proofs", Proof):
        row = CapturedTable.objects.filter(pk=found.id, lake=run.lake).first()
        if row is not None:
            n_tables += 1
            _take(run, row, found, now=now)
    return n_tables


def differences_tell(lake: str, *, now: datetime) -> int:
    """Write of tables that differ and nobody was told of; returns how many there were."""
    rows = TableComparison.objects.filter(
        captured__lake=lake, state="different", notified_at=None
    ).select_related("captured__pipeline")
    with transaction.atomic():
        mine = [
            row
            for row in rows.order_by("pk")[:500]
            if TableComparison.objects.filter(pk=row.pk, notified_at=None).update(notified_at=now)
        ]
        if mine:
            _write(lake, mine, now=now)
    return len(mine)


@transaction.atomic
def _take(run: Run, row: CapturedTable, found: Proof, *, now: datetime) -> None:
    made, is_new = TableComparison.objects.get_or_create(
        captured=row,
        run=str(run.pk),
        defaults={
            **{name: getattr(found, name) for name in _COUNTS},
            "columns_left_out": list(found.columns_left_out),
            "requested_by": run.requested_by,
            "compared_at": now,
        },
    )
    if not is_new:
        return
    keys = [DifferingKey(comparison=made, kind=kind, key=key) for kind, key in found.keys]
    DifferingKey.objects.bulk_create(keys, batch_size=_CHUNK)
    old = row.comparisons.order_by("-compared_at", "-pk").values_list("pk", flat=True)[KEPT:]
    TableComparison.objects.filter(pk__in=list(old)).delete()


def _write(lake: str, rows: Sequence[TableComparison], *, now: datetime) -> None:
    day = day_of(now, get_lake(lake).zone)
    once = f"{DIFFERS}.{rows[0].pk}"
    subject = _subject(rows)
    letter = Letter(
        subject=subject,
        intro="The lake has other rows than the source:",
        rows=[Row(str(row.captured), _words(row), _url(row)) for row in rows],
        after=["Nothing was changed. The page of a table has the keys, and repairs the rows."],
    )
    for username, email in notified_staff(lake).items():
        mail = letter_mail(letter, username=username)
        notice_queue(once, lake=lake, day=day, recipient=username, email=email, mail=mail, now=now)
    webhook_queue(once, lake=lake, day=day, text=f"{subject}: {_url(rows[0])}", now=now)


def _subject(rows: Sequence[TableComparison]) -> str:
    first = str(rows[0].captured)
    what = first if len(rows) == 1 else f"{len(rows)} captured tables, {first} first"
    return one_line(f"Source and lake differ: {what}")


def _words(row: TableComparison) -> str:
    return (
        f"{count_words(row.n_missing, 'row')} missing in the lake, {row.n_extra:,} extra, "
        f"{row.n_different:,} different."
    )


def _url(row: TableComparison) -> str:
    table = row.captured
    path = reverse("pipelines:table-comparisons", args=[table.pipeline.name, table.pk])
    return f"{settings.LAKEWARDEN_BASE_URL}{path}"
