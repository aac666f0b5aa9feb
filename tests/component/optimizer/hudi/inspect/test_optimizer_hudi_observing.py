"""What becomes of a look at Hudi tables: shown whole, harmless twice, due when it must be."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from optimizer.hudi.inspect.domain.facts import BlockKind, BlockState, HudiInspection
from optimizer.hudi.inspect.domain.schedule import EVERY, RESIDENT_EVERY, RETRY
from optimizer.hudi.inspect.run_kinds import ObserveHudiKind
from optimizer.hudi.inspect.services import snapshot_rows
from optimizer.hudi.inspect.services.inspection import (
    KIND,
    REFUSED_RETRY,
    hudi_inspection_ask,
)
from optimizer.models import HudiPoint, HudiTable, PolicyVersion, StoredInspection
from portal.catalog.services.table_commits import register_commit_listener
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotVisible
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from tests.component.conftest import LAKE
from tests.component.optimizer.hudi.hudi_looked import LookedHudi
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.unit.optimizer.hudi.hudi_world import (
    NOW,
    asked,
    block,
    done,
    logs,
    look,
    plan,
    table,
    waiting,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1)


def known(name: str = "clicks", **values: Any) -> HudiTable:
    """A table that was heard of an hour before the look, whose look is due."""
    at = NOW - timedelta(hours=1)
    return hudi(name, now=at, **{"inspect_due_at": at, **values})


def stale_look(**facts: Any) -> HudiInspection:
    """A table with a plan that nobody executed, behind which its view lies."""
    return look(
        done(0),
        done(10),
        asked(20),
        plans=(plan(20, "a"),),
        slices=(logs("a", 10), logs("b", 10, n=2)),
        uncompacted=waiting(10),
        has_read_logs=True,
        **facts,
    )


def test_a_look_shows_counts_findings_health_and_trend(lake: LakeConfig) -> None:
    row = known()
    heard: list[Any] = []
    register_commit_listener("test", lambda *said: heard.append(said))
    decided = LookedHudi(lake, row).found(row, stale_look()).taken_in(LATER)
    register_commit_listener("test", lambda *_: None)
    assert decided == [LAKE]
    assert heard == [(LAKE, [(row.db, row.table)], LATER)], "who follows it hears of the write"
    row.refresh_from_db()
    assert (row.inspected_at, row.inspection_error, row.version) == (NOW, "", 9)
    assert (row.table_type, row.n_pending, row.n_stuck) == ("MERGE_ON_READ", 1, 0)
    assert (row.n_file_groups, row.base_bytes, row.log_bytes) == (2, 200, 30)
    assert row.stale_since is not None
    assert row.written_at is not None
    assert row.health is not None
    assert row.health < 100
    assert row.deductions
    assert (row.logs_read_at, row.keys_read_at) == (NOW, None)
    assert row.unseen == ["Record keys were not compared: duplicates do not show."]
    assert row.inspect_due_at == NOW + EVERY
    kept = StoredInspection.objects.get()
    assert (kept.at, kept.look()) == (NOW, stale_look())
    point = HudiPoint.objects.get()
    assert (point.at, point.n_uncompacted, point.n_pending, point.log_bytes) == (NOW, 1, 1, 30)
    assert point.stale_seconds > 0


def test_taken_in_twice_it_is_the_same_and_an_older_look_changes_nothing(lake: LakeConfig) -> None:
    row = known()
    newest = LookedHudi(lake, row).found(row, stale_look())
    newest.taken_in(LATER)
    before = HudiTable.objects.values().get()
    older = replace(look(done(0)), inspected_at=NOW - timedelta(minutes=5))
    assert LookedHudi(lake, row).found(row, older).taken_in(LATER) == []
    newest.taken_in(LATER + timedelta(minutes=1))
    assert HudiTable.objects.values().get() == before
    assert StoredInspection.objects.get().at == NOW
    assert HudiPoint.objects.count() == 1


def test_what_was_heard_or_asked_for_since_stays_due(lake: LakeConfig) -> None:
    heard, wanted, gone = known("heard"), known("wanted", wants_keys=True), known("gone")
    served = known("served")
    looked = LookedHudi(lake, heard, wanted, gone, served)
    for row in (heard, wanted, gone, served):
        looked.found(row, stale_look())
    HudiTable.objects.filter(pk=heard.pk).update(event_at=LATER, inspect_due_at=LATER)
    HudiTable.objects.filter(pk=served.pk).update(inspect_due_at=LATER)
    HudiTable.objects.filter(pk=gone.pk).update(is_deleted=True, inspect_due_at=None)
    looked.taken_in(LATER)
    for row in (heard, wanted, gone, served):
        row.refresh_from_db()
    assert (served.inspected_at, served.inspect_due_at) == (NOW, LATER)
    assert (heard.inspected_at, heard.inspect_due_at) == (NOW, LATER)
    assert wanted.inspect_due_at is not None
    assert wanted.inspect_due_at < NOW
    assert (gone.inspected_at, gone.inspect_due_at) == (None, None)
    with_keys = replace(stale_look(), inspected_at=LATER, has_read_keys=True)
    LookedHudi(lake, wanted, keys=True).found(wanted, with_keys).taken_in(LATER)
    wanted.refresh_from_db()
    assert (wanted.wants_keys, wanted.keys_read_at) == (False, LATER)
    assert wanted.inspect_due_at == LATER + EVERY
    assert wanted.unseen == []


def test_a_resident_service_has_its_table_looked_at_more_often(lake: LakeConfig) -> None:
    PolicyVersion.objects.create(
        lake=LAKE,
        format="hudi",
        scope="*",
        version=1,
        by="ada",
        at=NOW,
        reason="so",
        values={"profile": "near-line"},
    )
    row = known()
    LookedHudi(lake, row).found(row, stale_look()).taken_in(LATER)
    row.refresh_from_db()
    assert row.inspect_due_at == NOW + RESIDENT_EVERY


def test_what_logs_told_holds_until_they_are_read_again(lake: LakeConfig) -> None:
    row = known()
    ill = stale_look(blocks=(block(10, BlockState.CORRUPT, BlockKind.CORRUPT),))
    ill = replace(ill, slices=(*ill.slices, replace(logs("f", 10), group=ill.blocks[0].group)))
    LookedHudi(lake, row).found(row, ill).taken_in(LATER)
    again = replace(ill, inspected_at=LATER, blocks=(), has_read_logs=False)
    LookedHudi(lake, row, logs=False).found(row, again).taken_in(LATER)
    row.refresh_from_db()
    assert [one["code"] for one in row.findings if one["code"] == "corrupt-blocks"]
    assert row.logs_read_at == NOW
    assert StoredInspection.objects.get().look().blocks == ill.blocks
    HudiTable.objects.update(inspect_due_at=LATER)
    Run.objects.update(finished_at=LATER)
    params = ObserveHudiKind().scheduled_params(LAKE, now=LATER)
    assert params == {"tables": [row.pk], "logs": [row.pk], "keys": [row.pk]}
    well = replace(again, inspected_at=LATER + EVERY, has_read_logs=True)
    LookedHudi(lake, row).found(row, well).taken_in(LATER + EVERY)
    row.refresh_from_db()
    assert not [one["code"] for one in row.findings if one["code"] == "corrupt-blocks"]


def test_tables_that_cannot_be_looked_at_say_why_and_stop_no_other(
    lake: LakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_rows, "MOST_SLICES", 2)
    well, gone, torn, huge, missed, old = map(
        known, ("well", "gone", "torn", "huge", "missed", "old")
    )
    looked = LookedHudi(lake, well, gone, torn, huge, missed, old)
    looked.found(well, stale_look()).found(torn, "{")
    looked.found(huge, replace(stale_look(), slices=tuple(logs(f, 1) for f in "abc")))
    looked.found(old, look(table=table(version=6, layout_version=1)))
    looked.failed = [{"table_id": gone.pk, "code": "hudi.gone", "reason": "It is not there."}]
    assert looked.taken_in(LATER) == [LAKE]
    said = {row.table: row for row in HudiTable.objects.all()}
    assert (said["gone"].inspection_error, said["gone"].inspect_due_at) == (
        "It is not there.",
        LATER + RETRY,
    )
    assert "cannot be read" in said["torn"].inspection_error
    assert "3 file groups" in said["huge"].inspection_error
    assert said["huge"].inspect_due_at == LATER + REFUSED_RETRY
    assert (said["missed"].inspection_error, said["missed"].inspect_due_at) == ("", LATER + RETRY)
    assert "Hudi 0.x" in said["old"].inspection_error
    assert (said["old"].health, said["old"].inspected_at) == (None, NOW)
    assert (said["well"].inspection_error, said["well"].inspected_at) == ("", NOW)
    monkeypatch.setattr(snapshot_rows, "MOST_PACKED", 10)
    later = replace(stale_look(), inspected_at=LATER)
    assert LookedHudi(lake, well).found(well, later).taken_in(LATER) == []
    well.refresh_from_db()
    assert "packed" in well.inspection_error
    assert well.inspected_at == NOW


def test_a_run_that_failed_is_tried_again_later(lake: LakeConfig) -> None:
    row = known()
    assert LookedHudi(lake, row).taken_in(LATER, outcome="failed") == []
    row.refresh_from_db()
    assert (row.inspected_at, row.inspect_due_at) == (None, LATER + RETRY)


def test_what_is_due_longest_comes_first_and_one_run_at_a_time(
    lake: LakeConfig, settings: Any
) -> None:
    settings.LAKEWARDEN_OPTIMIZER_INSPECTIONS_A_RUN = 7
    kind = get_kind(KIND)
    assert kind.scheduled_params(LAKE, now=NOW) is None
    rows = [known(f"t{n:03}", inspect_due_at=NOW - timedelta(seconds=n)) for n in range(8)]
    known("later", inspect_due_at=LATER)
    known("gone", is_deleted=True)
    params = kind.scheduled_params(LAKE, now=NOW)
    assert params is not None
    assert params["tables"] == [row.pk for row in reversed(rows)][:7]
    run = Run.objects.create(
        lake=LAKE, kind=KIND, params=params, requested_by="schedule", queued_at=NOW
    )
    assert kind.scheduled_params(LAKE, now=NOW) is None
    request = kind.request(run)["tables"][0]
    assert (request["db"], request["table"], request["location"]) == (
        "shop",
        "t001",
        "file:/lake/t001",
    )
    assert (request["read_logs"], request["read_keys"]) == (True, True)


def test_a_person_has_a_table_looked_at_now_and_its_keys_compared(lake: LakeConfig) -> None:
    at = NOW - timedelta(minutes=5)
    row = known(inspect_due_at=LATER, logs_read_at=at, keys_read_at=at)
    run = hudi_inspection_ask(LAKE, row.pk, by="olga", now=NOW)
    assert (run.kind, run.requested_by) == (KIND, "olga")
    assert run.params == {"tables": [row.pk], "logs": [row.pk], "keys": []}
    assert hudi_inspection_ask(LAKE, row.pk, by="olga", read_keys=True, now=NOW) == run
    row.refresh_from_db()
    assert (row.include_logs, row.wants_keys, row.inspect_due_at) == (True, True, NOW)
    found = stale_look()
    looked = LookedHudi(lake, row)
    looked.found(row, found).taken_in(LATER)
    row.refresh_from_db()
    assert (row.include_logs, row.wants_keys) == (False, True)
    with pytest.raises(NotVisible):
        hudi_inspection_ask("other", row.pk, by="olga", now=NOW)
