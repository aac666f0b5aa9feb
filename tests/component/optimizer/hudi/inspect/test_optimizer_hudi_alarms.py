"""An alarm of a Hudi table is opened by a look, told once, and closed by one that finds it not."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from optimizer.hudi.inspect.domain.alarms import BROKEN
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.services.alarms import OVER, QUIET_FOR, RAISED, alarms_open, alarms_tell
from optimizer.hudi.tables.services.record_changes import hudi_record_deleted
from optimizer.models import HudiAlarm, HudiTable
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice
from portal.notices.services import WEBHOOK
from tests.component.conftest import LAKE, People
from tests.component.optimizer.hudi.hudi_looked import LookedHudi
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.unit.optimizer.hudi.hudi_world import NOW, asked, done, logs, look, plan, table, waiting

pytestmark = pytest.mark.django_db
MINUTE, DAYS = timedelta(minutes=1), timedelta(days=9)
STALE, LATE = "stale-view", "never-executed"


@pytest.fixture(autouse=True)
def addresses(people: People, settings: Any, tmp_path: Path) -> None:
    """Give everybody an address."""
    names = ("olga", "ada", "ben", "cem", "otto", "stan")
    people_there = {one: {"name": one, "email": f"{one}@example.org"} for one in names}
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    settings.LAKEWARDEN_DIRECTORY.write_text(json.dumps({"people": people_there}), encoding="utf-8")


def ill(at: datetime = NOW, **facts: Any) -> HudiInspection:
    """A table whose read-optimized view is behind, with a plan that waits."""
    found = look(
        done(0),
        done(10),
        asked(20),
        plans=(plan(20, "a"),),
        slices=(logs("a", 10),),
        uncompacted=waiting(10),
        has_read_logs=True,
        has_read_keys=True,
        **facts,
    )
    return replace(found, inspected_at=at)


def well(at: datetime) -> HudiInspection:
    return replace(look(done(0), has_read_logs=True, has_read_keys=True), inspected_at=at)


def taken_in(lake: LakeConfig, row: HudiTable, found: HudiInspection) -> None:
    LookedHudi(lake, row, keys=True).found(row, found).taken_in(found.inspected_at + DAYS)


def mails(kind: str) -> dict[str, str]:
    """Return the mails of a kind by recipient."""
    rows = Notice.objects.filter(kind__startswith=f"{kind}.").exclude(recipient=WEBHOOK)
    return dict(rows.values_list("recipient", "text"))


def test_an_alarm_is_opened_told_once_renewed_and_closed(lake: LakeConfig) -> None:
    row = hudi(now=NOW - MINUTE)
    taken_in(lake, row, ill())
    assert {one.code for one in alarms_open(LAKE)} == {STALE, LATE}
    assert set(mails(RAISED)) == {"olga", "ada", "ben", "cem", "otto"}
    assert "shop.clicks: Read-optimized view is stale" in mails(RAISED)["olga"]
    assert "/tables/shop/clicks/files/?lake=main" in mails(RAISED)["olga"]
    n_mails = Notice.objects.count()

    taken_in(lake, row, ill(NOW + MINUTE))
    assert HudiAlarm.objects.filter(is_open=True).count() == 2
    assert alarms_tell(LAKE, now=NOW + DAYS) == 0
    assert Notice.objects.count() == n_mails

    taken_in(lake, row, well(NOW + 2 * MINUTE))
    assert not alarms_open(LAKE).exists()
    assert HudiAlarm.objects.exclude(closed_at=None).exclude(resolved_notified_at=None).count() == 2
    assert set(mails(OVER)) == {"olga", "ada", "ben", "cem", "otto"}

    taken_in(lake, row, ill(NOW + 3 * MINUTE))
    assert alarms_open(LAKE).count() == 2
    assert Notice.objects.filter(kind__startswith=RAISED).count() == n_mails, "it comes and goes"
    taken_in(lake, row, well(NOW + 4 * MINUTE))
    taken_in(lake, row, ill(NOW + QUIET_FOR + 4 * MINUTE))
    assert Notice.objects.filter(kind__startswith=RAISED).count() == 2 * n_mails


def test_the_mail_has_an_html_part_with_the_same(lake: LakeConfig) -> None:
    row = hudi(now=NOW - MINUTE)
    taken_in(lake, row, ill())
    mail = Notice.objects.get(kind__startswith=f"{RAISED}.", recipient="olga")
    assert '/tables/shop/clicks/files/?lake=main">shop.clicks</a>' in mail.html
    assert "Read-optimized view is stale" in mail.html
    assert "Hello olga," in mail.html
    assert mail.kind_words == "Alarm: Hudi table"


def test_one_that_comes_and_goes_is_told_over_once_and_again_after_a_day(lake: LakeConfig) -> None:
    row = hudi(now=NOW - MINUTE)
    taken_in(lake, row, ill())
    for minute in (1, 3, 5):
        taken_in(lake, row, well(NOW + minute * MINUTE))
        taken_in(lake, row, ill(NOW + (minute + 1) * MINUTE))
    n_mails = len(mails(RAISED))
    assert Notice.objects.filter(kind__startswith=RAISED, recipient="olga").count() == 1
    assert Notice.objects.filter(kind__startswith=OVER, recipient="olga").count() == 1
    assert alarms_tell(LAKE, now=NOW + QUIET_FOR) == 0
    assert alarms_tell(LAKE, now=NOW + QUIET_FOR + 2 * DAYS) == n_mails, "it was thought over"
    assert alarms_tell(LAKE, now=NOW + QUIET_FOR + 3 * DAYS) == 0
    taken_in(lake, row, well(NOW + QUIET_FOR + 4 * DAYS))
    assert Notice.objects.filter(kind__startswith=OVER, recipient="olga").count() == 2


def test_an_alarm_that_gets_worse_is_told_again(lake: LakeConfig) -> None:
    row = hudi(now=NOW - MINUTE)
    taken_in(lake, row, ill())
    n_mails = Notice.objects.filter(kind__startswith=RAISED).count()
    HudiAlarm.objects.filter(code=STALE).update(severity="INFO")
    taken_in(lake, row, ill(NOW + MINUTE))
    assert Notice.objects.filter(kind__startswith=RAISED).count() == 2 * n_mails
    taken_in(lake, row, ill(NOW + 2 * MINUTE))
    assert Notice.objects.filter(kind__startswith=RAISED).count() == 2 * n_mails
    taken_in(lake, row, well(NOW + 3 * MINUTE))
    HudiAlarm.objects.update(severity="INFO")
    taken_in(lake, row, ill(NOW + 4 * MINUTE))
    assert Notice.objects.filter(kind__startswith=RAISED).count() == 3 * n_mails


def test_owners_are_told_of_their_tables_and_keepers_of_all_in_one_mail(lake: LakeConfig) -> None:
    mine, other = hudi("mine", now=NOW - MINUTE), hudi("other", owner="stan", now=NOW - MINUTE)
    looked = LookedHudi(lake, mine, other, keys=True).found(mine, ill()).found(other, ill())
    looked.taken_in(NOW + DAYS)
    said = mails(RAISED)
    assert set(said) == {"olga", "stan", "ada", "ben", "cem", "otto"}
    assert "shop.other" not in said["olga"]
    assert "shop.mine" not in said["stan"]
    assert "shop.mine" in said["otto"]
    assert "shop.other" in said["otto"]


def test_a_broken_timeline_is_an_alarm_and_ends_none(lake: LakeConfig) -> None:
    row = hudi(now=NOW - MINUTE)
    taken_in(lake, row, ill())
    taken_in(lake, row, ill(NOW + MINUTE, table=table(faults=("deltacommit 1 is empty.",))))
    assert {one.code for one in alarms_open(LAKE)} == {STALE, LATE, BROKEN}


def test_a_table_that_is_gone_has_no_alarms_and_nobody_is_told_that_it_is_well(
    lake: LakeConfig,
) -> None:
    row = hudi(now=NOW - MINUTE)
    taken_in(lake, row, ill())
    hudi_record_deleted(LAKE, [row.pk], read_at=NOW, now=NOW)
    assert not alarms_open(LAKE).exists()
    assert alarms_tell(LAKE, now=NOW + DAYS) == 0
    assert not mails(OVER)


def test_a_monitoring_server_reads_how_many_are_open(
    lake: LakeConfig, client: Client, people: People
) -> None:
    row = hudi(now=NOW - MINUTE)
    taken_in(lake, row, ill())
    client.force_login(people.admin)
    text = client.get("/metrics").content.decode()
    assert f'lakewarden_optimizer_hudi_alarms{{lake="main",code="{STALE}"}} 1' in text
    assert 'lakewarden_optimizer_hudi_alarms{lake="main",code="stuck"} 0' in text
    assert 'lakewarden_optimizer_hudi_pending_plans{lake="main"} 1' in text
    assert 'lakewarden_optimizer_hudi_tables{lake="main",health="POOR"}' in text
    assert 'lakewarden_optimizer_hudi_stalest_seconds{lake="main"}' in text
