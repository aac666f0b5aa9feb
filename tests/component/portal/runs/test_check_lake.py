"""`manage.py check_lake`: one table of what is reached, as whom, and what to do where it is not."""

import getpass
import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pymetastore.hive_metastore.ttypes import NotificationEvent, NotificationEventResponse

from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.lake_config import LakeConfig
from tests.support.fake_yarn import FakeYarn, fake_yarn
from tests.support.small_hive import SmallHive
from tests.support.thrift_lake import ThriftLake, served


def _keep(settings: Any, lake: LakeConfig) -> None:
    text = json.dumps({str(lake.lake): lake.as_dict()})
    settings.LAKEWARDEN_LAKES.write_text(text, encoding="utf-8")


def _table(*arguments: str) -> tuple[list[str], str]:
    out, failed = StringIO(), ""
    try:
        call_command("check_lake", *arguments, stdout=out)
    except CommandError as error:
        failed = str(error)
    return out.getvalue().splitlines(), failed


def _reached(lines: list[str]) -> dict[str, str]:
    rows = [line for line in lines[3:] if not line.startswith(("    ", "Warnings: "))]
    cells = [line.split("  ") for line in rows]
    return {row[0]: next(cell.strip() for cell in row[1:] if cell.strip()) for row in cells}


def test_a_lake_that_is_reached_says_as_whom(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    for name in ("spool", "backups"):
        (tmp_path / name).mkdir()
    hive = ThriftLake(SmallHive(), tmp_path)
    hive.events = [NotificationEvent(1_234, 1_796_000_000, "ALTER_TABLE", "shop", "orders", "")]
    with served(hive) as port:
        found = replace(lake, thrift_port=port, metastore_db=replace(lake.metastore_db, port=port))
        _keep(settings, found)
        lines, failed = _table("main")
    assert failed == ""
    assert lines[0] == "Lake main"
    assert set(_reached(lines).values()) == {"yes"}
    (metastore,) = [line for line in lines if line.startswith("Metastore  ")]
    assert f"{getpass.getuser()} (not verified)" in metastore
    assert "databases: 1" in metastore
    (log,) = [line for line in lines if line.startswith("Notification log  ")]
    assert log.endswith("event 1,234 of 2026-11-30 00:53 UTC is the newest")
    assert "(not verified)" in log
    for name in ("spool", "backups"):
        assert list((tmp_path / name).iterdir()) == []


def test_each_system_that_is_not_reached_says_what_to_do(lake: LakeConfig) -> None:
    lines, failed = _table()
    assert _reached(lines) == {
        "Metastore": "NO",
        "Notification log": "NO",
        "Metastore database": "NO",
        "File system": "yes",
        "Spool": "NO",
        "Backup root": "NO",
        "Spark master": "yes",
    }
    assert failed.startswith("Not reached: 5.")
    text = " ".join(" ".join(lines).split())
    for word in ("metastore does not answer", "firewall from this host", "Make it for the portal"):
        assert word in text


def _log_row(lake: LakeConfig, hive: ThriftLake, settings: Any) -> tuple[str, str, str]:
    with served(hive) as port:
        _keep(settings, replace(lake, thrift_port=port))
        lines, failed = _table("main")
    reached = _reached(lines)["Notification log"]
    assert ("Warnings: 1. What to do stands below each." in lines) is (reached == "warning")
    start = next(n for n, line in enumerate(lines) if line.startswith("Notification log"))
    return reached, _advice(lines[start + 1 :]), failed


def _advice(lines: Sequence[str]) -> str:
    found = []
    for line in lines:
        if not line.startswith("    "):
            break
        found.append(line.strip())
    return " ".join(found)


def test_a_notification_log_that_is_not_shown_names_the_settings_that_show_it(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    hive = ThriftLake(SmallHive(), tmp_path)
    hive.events, hive.shows_events = [NotificationEvent(1)], False
    reached, advice, failed = _log_row(lake, hive, settings)
    assert reached == "NO"
    assert "hive.metastore.event.db.notification.api.auth" in advice
    assert "Internal error" in advice
    assert failed


def test_a_notification_log_without_an_event_is_a_warning(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    reached, advice, failed = _log_row(lake, ThriftLake(SmallHive(), tmp_path), settings)
    assert reached == "warning"
    assert "DbNotificationListener" in advice
    # The database, spool and backup root of this lake are not there: nothing else counts.
    assert failed.startswith("Not reached: 3.")


def test_a_new_metastore_has_no_event_and_no_warning(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    hive = SmallHive()
    hive.kept = {"default": {}}
    assert _log_row(lake, ThriftLake(hive, tmp_path), settings)[:2] == ("yes", "")


def test_events_that_the_metastore_has_cleaned_away_are_no_fault(
    lake: LakeConfig, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hive = ThriftLake(SmallHive(), tmp_path)
    hive.events = [NotificationEvent(7, 1_796_000_000, "ALTER_TABLE", "shop", "orders", "")]
    monkeypatch.setattr(hive, "get_next_notification", lambda _: NotificationEventResponse([]))
    assert _log_row(lake, hive, settings)[:2] == ("yes", "")


def test_each_jar_that_drivers_are_given_is_looked_for(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    for name in ("first.jar", "empty.jar"):
        (tmp_path / name).write_bytes(b"PK" if name == "first.jar" else b"")
    jars = (
        f"file:{tmp_path}/first.jar",
        f"{tmp_path}/first.jar",
        f"file:{tmp_path}/no.jar",
        f"file:{tmp_path}/empty.jar",
        f"file:{tmp_path}",
        f"{tmp_path}/*.jar",
        "local:/opt/on/the/node.jar",
    )
    archive = {"spark.yarn.archive": f"file:{tmp_path}/spark-jars.zip"}
    _keep(settings, replace(lake, spark_jars=jars, spark_conf=archive))
    lines, _ = _table("main")
    rows = [line for line in lines if line.startswith(("Spark jar ", "Spark archive "))]
    words = [next(cell.strip() for cell in row.split("  ")[1:] if cell.strip()) for row in rows]
    assert words == ["yes", "yes", "NO", "NO", "NO", "NO"]
    assert rows[0].endswith(f"2 bytes, of {getpass.getuser()}")
    assert sum("check.no_jar" in row for row in rows) == 4
    text = " ".join(" ".join(lines).split())
    assert f"{tmp_path}/no.jar is not there, so no driver would start or find its classes" in text
    assert f"{tmp_path}/empty.jar is empty" in text
    assert f"{tmp_path} is a directory" in text


def test_a_missing_keytab_keeps_the_rest_from_nothing(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    keytab = str(tmp_path / "no.keytab")
    kerberos = Kerberos("me@EXAMPLE.COM", keytab, "hive/_HOST@EXAMPLE.COM")
    _keep(settings, replace(lake, kerberos=kerberos))
    lines, _ = _table("main")
    found = _reached(lines)
    assert (found["Kerberos ticket"], found["File system"]) == ("NO", "yes")
    assert any("kerberos.keytab_file" in line for line in lines)


def test_kerberos_on_kubernetes_is_told_before_a_run_is_started(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    kerberos = Kerberos("me@EXAMPLE.COM", str(tmp_path / "keytab"), "hive/_HOST@EXAMPLE.COM")
    _keep(settings, replace(lake, kerberos=kerberos, spark_master="k8s://https://127.0.0.1:1"))
    lines, _ = _table("main")
    assert _reached(lines)["Spark master"] == "NO"
    assert any("kerberos.kubernetes" in line for line in lines)


@pytest.mark.parametrize(("master", "detail"), [("yarn", "yarn.address"), ("spark://h:1", "")])
def test_a_master_is_looked_for(lake: LakeConfig, settings: Any, master: str, detail: str) -> None:
    master = master.replace("h:1", "127.0.0.1:1")
    _keep(settings, replace(lake, spark_master=master))
    lines, _ = _table("main")
    assert _reached(lines)["Spark master"] == "NO"
    assert any((detail or "check.unreachable") in line for line in lines)


def test_a_file_of_properties_that_others_read_is_told(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    file = tmp_path / "spark.conf"
    file.touch(mode=0o644)
    _keep(settings, replace(lake, spark_properties_file=str(file)))
    lines, _ = _table("main")
    assert _reached(lines)["Spark master"] == "NO"
    assert any("config.spark_properties_file" in line for line in lines)


@pytest.mark.parametrize(
    ("status", "reached", "said"),
    [
        (200, "yes", "lakewarden (not verified)"),
        (401, "NO", "asks for Kerberos (SPNEGO)"),
        (503, "NO", "gives no answer"),
    ],
)
def test_yarn_says_its_state_and_for_whom_it_takes_the_portal(
    lake: LakeConfig, settings: Any, status: int, reached: str, said: str
) -> None:
    with fake_yarn() as yarn:
        yarn.status = status
        properties = {"yarn.resourcemanager.webapp.address": yarn.address}
        asked = replace(lake, spark_master="yarn", hadoop_conf=properties, hadoop_user="lakewarden")
        _keep(settings, asked)
        lines, _ = _table("main")
    assert _reached(lines)["Spark master"] == reached
    text = " ".join(" ".join(lines).split())
    assert said in text
    assert ("YARN 3.3.4: STARTED, ACTIVE" in text) is (reached == "yes")
    assert yarn.users == {"lakewarden"}


def test_a_cluster_is_asked_for_applications_and_has_the_packed_python(
    lake: LakeConfig, settings: Any, tmp_path: Path
) -> None:
    archive = tmp_path / "python.tar.gz"
    with fake_yarn() as yarn:
        properties = {"yarn.resourcemanager.webapp.address": yarn.address}
        found = replace(
            lake, spark_master="yarn", hadoop_conf=properties, spark_python=f"file:{archive}"
        )
        _keep(settings, found)
        lines, _ = _table("main")
        reached = _reached(lines)
        assert (reached["Spark master"], reached["Packed Python"]) == ("yes", "NO")
        assert "Applications" not in reached
        assert any("applications are found by their tags" in line for line in lines)
        assert any("check.no_python" in line for line in lines)
        archive.write_bytes(b"packed")
        assert _reached(_table("main")[0])["Packed Python"] == "yes"
        yarn.status = 503
        lines, _ = _table("main")
    assert _reached(lines)["Spark master"] == "NO"
    assert sum("yarn.unreachable" in line for line in lines) == 1


def _queue_rows(lake: LakeConfig, yarn: FakeYarn, settings: Any) -> dict[str, tuple[str, str]]:
    properties = {"yarn.resourcemanager.webapp.address": yarn.address}
    _keep(settings, replace(lake, spark_master="yarn", hadoop_conf=properties))
    lines, failed = _table("main")
    assert failed.startswith("Not reached: 5."), "queues only warn"
    rows = {}
    for n, line in enumerate(lines):
        if line.startswith("Queue "):
            _, word, *_, place, detail = [cell for cell in line.split("  ") if cell.strip()]
            rows[place.strip()] = (word.strip(), _advice(lines[n + 1 :]) or detail.strip())
    return rows


def test_queues_of_runs_that_change_the_lake_must_not_be_preempted(
    lake: LakeConfig, settings: Any
) -> None:
    queues = {"lifecycle.drop": "calm", "lifecycle.restore": "root.etl.within", "default": "etl"}
    with fake_yarn() as yarn:
        yarn.queues = {
            "root.calm": (True, True),
            "root.etl.within": (True, False),
            "root.default": (False, False),
        }
        rows = _queue_rows(replace(lake, spark_queues=queues), yarn, settings)
    assert rows.keys() == {"calm", "root.etl.within", "etl"}
    assert rows["calm"] == ("yes", "takes nothing away from runs that change the lake")
    word, advice = rows["root.etl.within"]
    assert word == "warning"
    assert "may end drivers in root.etl.within during a change (lifecycle.restore)" in advice
    assert "capacity.root.etl.within.intra-queue-preemption.disable_preemption to true" in advice
    assert rows["etl"][0] == "warning"
    assert "YARN's scheduler has no queue 'etl'" in rows["etl"][1]


def test_without_queues_of_a_lakes_own_that_of_spark_or_of_yarn_is_looked_at(
    lake: LakeConfig, settings: Any
) -> None:
    with fake_yarn() as yarn:
        yarn.queues = {"root.default": (False, True), "root.own": (True, True)}
        ((place, (word, advice)),) = _queue_rows(lake, yarn, settings).items()
        assert (place, word) == ("default", "warning")
        assert "yarn.scheduler.capacity.root.default.disable_preemption to true" in advice
        for kind in ("lifecycle.drop", "lifecycle.restore", "lifecycle.purge"):
            assert kind in advice
        own = replace(lake, spark_conf={"spark.yarn.queue": "own"})
        assert [row[0] for row in _queue_rows(own, yarn, settings).values()] == ["yes"]


def test_another_scheduler_is_not_blamed_for_what_it_does_not_say(
    lake: LakeConfig, settings: Any
) -> None:
    with fake_yarn() as yarn:
        yarn.scheduler = "fairScheduler"
        rows = _queue_rows(lake, yarn, settings)
    assert rows["default"] == (
        "yes",
        "this scheduler does not say whether it takes containers away",
    )


def test_a_lake_that_is_not_governed_is_named(lake: LakeConfig) -> None:
    assert "other" in _table("other")[1]
