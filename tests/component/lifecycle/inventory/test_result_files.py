"""Result files that were taken in go after some days, but never what a reader may still open."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lifecycle.inventory.services.scan import KIND as SCAN
from lifecycle.models import LatestScan, ScanSnapshot
from portal.connectors.lake_config import LakeConfig
from portal.runs.kinds import registry as kinds
from portal.runs.models import Run
from portal.runs.results import removal as result_files
from portal.runs.results.parquet import result_rows
from portal.runs.results.removal import LEAST, MOST, results_trim
from tasks.trimming import trim
from tests.component.conftest import LAKE
from tests.component.lifecycle.scanned import scan
from tests.component.portal.runs.run_kinds import NotingKind

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


class PassingKind(NotingKind):
    """Its result files are taken in whole."""

    name = "test.passing"
    results_pass = True


class KeptKind(NotingKind):
    """Its result files are evidence."""

    name = "test.kept"


@pytest.fixture(autouse=True)
def _kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "_kinds", {**kinds._kinds})
    for kind in (PassingKind(), KeptKind()):
        kinds.register(kind)


def ended(
    config: LakeConfig, at: datetime, *, kind: str = "test.passing", state: str = "DONE"
) -> tuple[Run, Path]:
    """Make a run that ended, with a manifest and two result files, and give where it lies."""
    run = Run.objects.create(
        lake=LAKE,
        kind=kind,
        state=state,
        epoch=1,
        requested_by="test",
        queued_at=at,
        finished_at=at if state in ("DONE", "FAILED", "CANCELLED") else None,
    )
    place = Path(config.path(config.spool).path) / str(run.pk) / "1"
    (place / "results" / "items").mkdir(parents=True)
    (place / "manifest.json").write_text("{}", encoding="utf-8")
    for name in ("items/part-0.parquet", "items/_SUCCESS"):
        (place / "results" / name).write_text("rows", encoding="utf-8")
    return run, place


def test_old_results_go_and_the_rest_of_the_spool_stays(lake: LakeConfig, now: datetime) -> None:
    run, place = ended(lake, now - 8 * DAY)
    (place.parent / "2" / "results").mkdir(parents=True)
    assert results_trim(LAKE, now=now) == 1
    assert not (place / "results").exists()
    assert not (place.parent / "2" / "results").exists(), "another epoch of the same run"
    assert (place / "manifest.json").exists()
    run.refresh_from_db()
    assert run.results_removed_at == now
    assert results_trim(LAKE, now=now) == 0


@pytest.mark.parametrize(
    ("kind", "state", "days"),
    [
        ("test.passing", "DONE", 6),
        ("test.passing", "SETTLING", 30),
        ("test.passing", "RUNNING", 30),
        ("test.kept", "DONE", 300),
        ("nobody.knows", "DONE", 300),
    ],
)
def test_what_is_young_unsettled_evidence_or_unknown_stays(
    lake: LakeConfig, now: datetime, kind: str, state: str, days: int
) -> None:
    _, place = ended(lake, now - days * DAY, kind=kind, state=state)
    assert results_trim(LAKE, now=now) == 0
    assert len(list((place / "results" / "items").iterdir())) == 2


@pytest.mark.parametrize("days", [0, -3])
def test_no_setting_makes_it_shorter_than_what_a_reader_takes(
    lake: LakeConfig, now: datetime, settings: Any, days: int
) -> None:
    settings.LAKEWARDEN_RESULT_DAYS = days
    _, place = ended(lake, now - LEAST + timedelta(minutes=1))
    assert results_trim(LAKE, now=now) == 0
    assert (place / "results").exists()


def test_a_turn_is_bounded_and_the_oldest_go_first(
    lake: LakeConfig, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_files, "MOST", 2)
    places = [ended(lake, now - days * DAY)[1] for days in (9, 11, 10)]
    trim(now)
    assert [(place / "results").exists() for place in places] == [True, False, False]
    trim(now)
    assert not (places[0] / "results").exists()
    assert MOST > 2


def test_one_that_cannot_be_removed_does_not_stop_the_others(
    lake: LakeConfig, now: datetime
) -> None:
    # A file where the directory of a run should be: nothing of it is taken for removed.
    stuck, place = ended(lake, now - 12 * DAY)
    (place / "results" / "items").rename(place.parent.parent / "items")
    (place / "results").rmdir()
    (place / "results").write_text("no directory", encoding="utf-8")
    _, other = ended(lake, now - 10 * DAY)
    trim(now)
    stuck.refresh_from_db()
    assert stuck.results_removed_at is None
    assert (place / "results").exists()
    assert not (other / "results").exists()


def test_links_are_removed_and_never_followed(
    lake: LakeConfig, now: datetime, tmp_path: Path
) -> None:
    data = tmp_path / "lake-data"
    data.mkdir()
    (data / "file").write_text("data", encoding="utf-8")
    _, place = ended(lake, now - 10 * DAY)
    (place / "results" / "link").symlink_to(data)
    results_trim(LAKE, now=now)
    assert not (place / "results").exists()
    assert (data / "file").exists()


def test_a_run_of_another_lake_is_left_alone(
    lake: LakeConfig, now: datetime, tmp_path: Path
) -> None:
    _, place = ended(lake, now - 10 * DAY)
    Run.objects.update(lake="other")
    assert results_trim(LAKE, now=now) == 0
    assert (place / "results").exists()


class TestScans:
    """Of scans, what was shown to readers in the last days stays, however old it is."""

    def picture(self, config: LakeConfig, at: datetime) -> ScanSnapshot:
        found = scan(config, now=at)
        run = found.run
        # As the product names it: `scanned` writes beside the run's own folder.
        place = Path(config.path(config.spool).path) / str(run.pk) / "1"
        place.parent.mkdir(parents=True)
        Path(config.path(run.spool).path).rename(place)
        Run.objects.filter(pk=run.pk).update(spool=f"file:{place}")
        ScanSnapshot.objects.filter(pk=found.pk).update(results_uri=f"file:{place}/results")
        found.refresh_from_db()
        return found

    def has_files(self, config: LakeConfig, generation: ScanSnapshot) -> bool:
        return bool(list(result_rows(config, generation.results_uri, "tables")))

    def test_the_current_picture_stays_however_old(self, lake: LakeConfig, now: datetime) -> None:
        found = self.picture(lake, now - 100 * DAY)
        assert results_trim(LAKE, now=now) == 0
        assert self.has_files(lake, found)

    def test_the_picture_that_was_shown_two_days_ago_stays(
        self, lake: LakeConfig, now: datetime
    ) -> None:
        old = self.picture(lake, now - 40 * DAY)
        shown = self.picture(lake, now - 30 * DAY)
        news = [self.picture(lake, now - hours * timedelta(hours=1)) for hours in (3, 2, 1)]
        assert results_trim(LAKE, now=now) == 1
        assert not self.has_files(lake, old)
        assert self.has_files(lake, shown), "a plan that is created from it may still read it"
        assert all(self.has_files(lake, one) for one in news)
        current = LatestScan.objects.get(lake=LAKE).generation
        assert current == news[-1]
        assert results_trim(LAKE, now=now + 10 * DAY) == 3, "all but what is shown"
        assert self.has_files(lake, current)

    def test_a_picture_that_is_being_loaded_again_stays(
        self, lake: LakeConfig, now: datetime
    ) -> None:
        first = self.picture(lake, now - 40 * DAY)
        self.picture(lake, now - 30 * DAY)
        ScanSnapshot.objects.filter(pk=first.pk).update(state="LOADING")
        assert results_trim(LAKE, now=now) == 0
        assert self.has_files(lake, first)

    def test_a_scan_that_failed_leaves_nothing_for_ever(
        self, lake: LakeConfig, now: datetime
    ) -> None:
        _, place = ended(lake, now - 9 * DAY, kind=SCAN, state="FAILED")
        self.picture(lake, now - DAY)
        assert results_trim(LAKE, now=now) == 1
        assert not (place / "results").exists()


def test_kinds_that_are_evidence_keep_theirs() -> None:
    passing = {kind.name for kind in kinds.all_kinds() if kind.results_pass}
    assert passing - {"test.passing"} == {
        SCAN,
        "optimizer.poll",
        "optimizer.keep_queries",
        "observe_tables",
        "observe_hudi",
        "pipelines.layer",
        "pipelines.cdc_compare",
        "pipelines.materialize",
        "quality.check",
        "quality.try",
    }, "lists of removals and services are read later, by people and by programs"
