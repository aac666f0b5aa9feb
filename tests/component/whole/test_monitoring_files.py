"""Tests deploy/: rules and dashboard name what /metrics gives, and every alarm has its rule."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from tests.support.promql import given, grouped_by, names, problems

DEPLOY = Path(settings.BASE_DIR) / "deploy"
BOOK = (Path(settings.BASE_DIR) / "docs" / "operations.md").read_text(encoding="utf-8")


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text(encoding="utf-8"))
    return [rule for group in groups["groups"] for rule in group["rules"]]


def alarms() -> list[str]:
    """Return the first cell of each row of the table of alarms."""
    part = BOOK.partition("\n## Alarms\n")[2].partition("\n## ")[0]
    rows = [line for line in part.splitlines() if line.startswith("| ")]
    return [row.split(" | ")[0].removeprefix("| ") for row in rows[1:]]


def dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((DEPLOY / "grafana/lakewarden.json").read_text("utf-8"))
    return read


def targets() -> Iterator[tuple[str, str, str]]:
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], target["legendFormat"]


def test_the_reader_of_expressions_finds_what_is_wrong() -> None:
    right = 'max by (lake) (lakewarden_red_button{lake=~"a|b"}) == 1'
    assert list(problems(right)) == []
    assert names(right) == {"lakewarden_red_button"}
    for wrong, said in (
        ("lakewarden_no_such_number > 0", "is not given"),
        ('lakewarden_red_button{table="t"} > 0', "has no label ['table']"),
        ("sum by (lake, kind) (lakewarden_red_button)", "has no label ['kind']"),
        ("1 > 0", "names no number"),
    ):
        assert said in next(problems(wrong)), wrong


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_a_rule_names_what_is_given_and_its_row(rule: dict[str, Any]) -> None:
    assert list(problems(rule["expr"])) == []
    said = rule["annotations"]
    assert said.keys() == {"summary", "description", "alarm", "runbook_url"}
    used = set(re.findall(r"\$labels\.(\w+)", said["summary"] + said["description"]))
    assert used <= grouped_by(rule["expr"]) | (
        {"instance"} if "up" in names(rule["expr"]) else set()
    )
    assert rule["labels"]["severity"] in ("critical", "warning")
    page, _, anchor = said["runbook_url"].partition("#")
    assert f"\n## {anchor.title()}\n" in (Path(settings.BASE_DIR) / page).read_text("utf-8")
    if anchor == "alarms":
        (row,) = [cell for cell in alarms() if said["alarm"].casefold() in cell.casefold()][:1]
        assert names(rule["expr"]) & shown(row), row


def shown(row: str) -> set[str]:
    """Return the numbers that a row names, of a histogram all its parts."""
    found = set(re.findall(r"lakewarden_[a-z_]*[a-z]\b", row))
    if 'state="OVERDUE"' in row:  # its gauge stands in the row before
        found.add("lakewarden_backups_proven")
    return found | {f"{name}_{part}" for name in found for part in ("count", "bucket", "sum")}


def test_every_alarm_that_has_a_number_has_a_rule() -> None:
    asked = {name for rule in rules() for name in names(rule["expr"])}
    rows = [row for row in alarms() if shown(row) & given().keys()]
    assert len(rows) > 25
    assert [row for row in rows if not shown(row) & asked] == []


def test_alerts_have_names_of_their_own_and_each_is_tried_both_ways() -> None:
    alerts = [rule["alert"] for rule in rules()]
    assert len(alerts) == len(set(alerts))
    tried = yaml.safe_load((DEPLOY / "prometheus/alerts_test.yml").read_text(encoding="utf-8"))
    fires: dict[str, set[bool]] = {}
    for test in tried["tests"]:
        for case in test["promql_expr_test"]:
            (alert,) = re.findall(r'alertname="(\w+)"', case["expr"])
            fires.setdefault(alert, set()).add(bool(case["exp_samples"]))
        for series in test["input_series"]:
            assert list(problems(series["series"])) == []
    assert fires == {alert: {True, False} for alert in alerts}


def test_the_example_scrapes_with_a_token_and_loads_the_rules() -> None:
    said = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text(encoding="utf-8"))
    (job,) = said["scrape_configs"]
    assert said["rule_files"] == ["alerts.yml"]
    assert job["authorization"]["credentials_file"].startswith("/etc/")
    down = next(rule for rule in rules() if "up" in names(rule["expr"]))
    assert f'job="{job["job_name"]}"' in down["expr"]


def test_the_dashboard_shows_what_is_given() -> None:
    for title, expression, legend in targets():
        assert list(problems(expression.replace("$lake", "x"))) == [], title
        labels = set(re.findall(r"\{\{(\w+)\}\}", legend))
        assert labels <= grouped_by(expression), title


def test_the_dashboards_ids_are_unique_and_its_source_is_a_variable() -> None:
    board = dashboard()
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    assert board["uid"] == "lakewarden"
    variables = {one["name"]: one for one in board["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert variables["lake"]["type"] == "query"
    source = {"type": "prometheus", "uid": "${datasource}"}
    for panel in board["panels"]:
        if panel["type"] != "row":
            for one in (panel, *panel["targets"]):
                assert one["datasource"] == source, panel["title"]
    rows = [panel["title"] for panel in board["panels"] if panel["type"] == "row"]
    assert rows == [
        *("Lakes", "Runs", "Approvals", "Follower", "Outbox and mails", "StarRocks staleness"),
        *("Optimizer", "Hudi alarms", "Pipelines", "Checks", "Web and audit"),
    ]
    places = [tuple(panel["gridPos"][key] for key in "xy") for panel in board["panels"]]
    assert len(places) == len(set(places))
