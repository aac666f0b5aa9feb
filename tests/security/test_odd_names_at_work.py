"""Tests odd names: the same in a path, a program, a journal, a plan and an argv, only there.

The functions that act, without servers; what real ones make of such values is in
`tests/integration/lifecycle/backup/test_restore_program.py` and `test_bad_input.py`.
"""

import ast
import json
import re
from contextlib import suppress
from dataclasses import asdict, fields, replace
from datetime import date
from pathlib import Path

import pytest

from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    FileFact,
    Generation,
    ItemDone,
    ItemIntent,
    ItemRefused,
    ItemTarget,
    Outcome,
    RestoreIntent,
)
from lifecycle.backup.jobs.papers import restore_program
from lifecycle.drop.domain.plan import PlanDigest, PlanItem, canonical_line, read_line
from lifecycle.notices.domain.calendar import Event, render_calendar
from lifecycle.rules.domain.templates import Template
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId
from portal.lake.names import PartitionName, TableName, check_identifier, quoted
from portal.lake.paths import LakePath
from portal.spark.launch import ROOT, submit_argv
from tests.component.lifecycle import plan_world
from tests.component.lifecycle.plan_world import NOW
from tests.security.corpora import TEXTS
from tests.support.icalendar import read_calendar
from tests.support.lakes import local_lake

MAIN = LakeId("main")
HOME = LakePath.parse("hdfs://nn/lake/sales/orders")
NAMES = {name: PartitionName(("dt", "h"), (text, "1")) for name, text in TEXTS.items()}
PLAIN = restore_program(backup=HOME, metastore="thrift://plain:9083").split("\n")
WHOLE = BatchIntent("r", 1, 1, "m", "s", "o", "a", "", "d", "t", 15, "", ())
A_DAY = date(2026, 11, 22)


def places(text: str) -> list[LakePath]:
    """Return the places that a text is a part of, where it can be."""
    found = []
    with suppress(RuleViolation):
        found.append(HOME.child(text))
    with suppress(RuleViolation):
        found.append(LakePath.parse(f"hdfs://nn/{text}/backup"))
    return found


def test_a_partitions_directory_lies_below_its_table_and_reads_back() -> None:
    for name in NAMES.values():
        assert PartitionName.parse(str(name)) == name
        assert str(name).count("/") == 1, "two keys, two directories"
        if "\x00" in str(name):  # neither Java nor any file system has such a name
            continue
        place = HOME.child(*str(name).split("/"))
        assert place.parent.parent == HOME
        assert LakePath.parse(str(place)) == place


def test_two_values_never_share_a_directory() -> None:
    assert len({str(name) for name in NAMES.values()}) == len(NAMES)


def test_a_path_cannot_leave_where_it_was_put() -> None:
    for text in TEXTS.values():
        for place in places(text):
            assert ".." not in place.segments
            assert LakePath.parse(str(place)) == place
        inside = [place for place in places(text) if place.parent == HOME]
        assert all(place.is_at_or_under(HOME) and place.name == text for place in inside)


def test_an_owners_directory_is_one_segment_or_none() -> None:
    for text in TEXTS.values():
        place = Template.parse("hdfs://nn/user/{owner}").place_for(text)
        assert place is None or place.path == f"/user/{text}"
        assert place is None or (place.depth == 2 and place.name not in {"", ".", ".."})


def test_a_name_is_plain_or_refused_and_quoted_it_is_one_identifier() -> None:
    for text in TEXTS.values():
        if re.fullmatch(r"[a-z0-9_]{1,128}", text):
            assert check_identifier(text, kind="table") == text
        else:
            with pytest.raises(RuleViolation) as refused:
                TableName(MAIN, "sales", text)
            assert refused.value.fields == {"kind": "table", "value": text}
        assert re.fullmatch(r"`(?:[^`]|``)*`", quoted(text), re.DOTALL)
        assert quoted(text)[1:-1].replace("``", "`") == text


def test_the_program_beside_a_backup_knows_its_place_and_is_no_other_program() -> None:
    for text in TEXTS.values():
        backup, metastore = f"hdfs://nn/{text}/2026-11-22/sealed/r/1", f"thrift://{text}:9083"
        place = LakePath("hdfs", "nn", backup.removeprefix("hdfs://nn"))
        lines = restore_program(backup=place, metastore=metastore).split("\n")
        changed = [pair for pair in zip(PLAIN, lines, strict=True) if pair[0] != pair[1]]
        said = [line.partition(" = ") for _, line in changed]
        assert {name: ast.literal_eval(value) for name, _, value in said} == {
            "BACKUP": backup,
            "METASTORE": metastore,
        }


def test_the_program_beside_the_oddest_backup_compiles() -> None:
    odd = LakePath("hdfs", "nn", "/".join(["", *TEXTS.values()]))
    compile(restore_program(backup=odd, metastore="thrift://x:1"), "restore_backup.py", "exec")


def test_a_manifest_is_read_as_it_was_written() -> None:
    items = tuple(
        ItemIntent(
            item=f"b0000001-i{number:03d}",
            partition=str(NAMES[name]),
            source=f"hdfs://nn/{text}",
            generation=Generation(1, 1, text, text),
            metadata=json.dumps({"value": text}),
            files=(FileFact(text, False, 1, 1, text, text, 0o640, (text,)),),
            parents=(),
            facts={text: text},
        )
        for number, (name, text) in enumerate(list(TEXTS.items()), start=1)
    )
    refused = tuple(ItemRefused(str(NAMES[name]), text) for name, text in TEXTS.items())
    for text in TEXTS.values():
        intent = replace(WHOLE, run=text, lake=text, db=text, table=text, table_owner=text)
        intent = replace(intent, plan=text, digest=text, at=text, table_metadata=text)
        intent = replace(intent, items=items[:1], refused=refused[:1])
        assert BatchIntent.from_bytes(intent.to_bytes()) == intent
    whole = replace(WHOLE, items=items, refused=refused)
    assert BatchIntent.from_bytes(whole.to_bytes()) == whole
    dones = tuple(ItemDone(i.item, i.partition, Outcome.DROPPED, i.source) for i in items)
    done = BatchDone("r", 1, 1, "t", "driver", dones, target={"db": items[0].source})
    assert BatchDone.from_bytes(done.to_bytes()) == done
    targets = tuple(ItemTarget(i.item, i.partition, i.source) for i in items)
    restored = RestoreIntent("r", 1, 1, "t", "s", "o", HOME.path, targets)
    assert RestoreIntent.from_bytes(restored.to_bytes()) == restored


def test_a_plans_file_has_one_line_an_item_and_reads_back() -> None:
    items = sorted((plan_item(str(name), TEXTS[key]) for key, name in NAMES.items()), key=by_name)
    digest = PlanDigest()
    content = b"".join(digest.add(item) for item in items)
    lines = content.decode().split("\n")
    assert lines.pop() == ""
    assert [read_line(line) for line in lines] == items
    assert content.count(b"\n") == len(items) == digest.finish().n_items
    assert len({canonical_line(item) for item in items}) == len(items)


def plan_item(partition: str, text: str) -> PlanItem:
    row = plan_world.Item(location=text).row(1)
    return PlanItem(
        **{field.name: row[field.name] for field in fields(PlanItem) if field.name in row},
        table="orders",
        partition=partition,
    )


def by_name(item: PlanItem) -> tuple[str, str, str]:
    return item.key


def test_a_calendar_has_one_event_an_entry_whatever_its_name() -> None:
    events = [
        Event(f"{n}@x", A_DAY, A_DAY, text, description=text)
        for n, text in enumerate(TEXTS.values())
    ]
    _, found = read_calendar(render_calendar(events, name="x", stamp=NOW).encode())
    assert len(found) == len(events)
    assert {key for one in found for key in one} == {
        *("UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "DESCRIPTION", "TRANSP"),
    }


def test_an_argv_holds_every_value_whole_and_no_new_option(tmp_path: Path) -> None:
    for text in TEXTS.values():
        conf = {f"spark.lw.{n}": value for n, value in enumerate((text, f" {text}"))}
        entry = local_lake(tmp_path, MAIN).as_dict() | {"spark_conf": conf}
        config = LakeConfig.from_dict(entry)
        for spool in (f"hdfs://nn/{text}", text):
            argv = submit_argv(
                module="lifecycle.inventory.jobs.scan", tag="lw-1-1", spool=spool, config=config,
                log_file=tmp_path / "log",
            )  # fmt: skip
            options, program = read_argv(argv[1:])
            said = {value.partition("=")[0]: value.partition("=")[2] for _, value in options}
            assert {key: said[key] for key in conf} == conf
            assert {name for name, _ in options} == {"--master", "--name", "--conf"}
            assert said["spark.yarn.tags"] == "lw-1-1"
            entry_point = str(ROOT / "portal" / "spark" / "entry.py")
            assert program == [entry_point, "lifecycle.inventory.jobs.scan", spool]


def read_argv(argv: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Read an argv by the rules of spark-submit: options first, the program and all after it."""
    rest, options = list(argv), []
    while rest and rest[0].startswith("-"):
        options.append((rest.pop(0), rest.pop(0)))
    return options, rest


def test_what_a_lake_says_reaches_a_job_as_it_was_said(tmp_path: Path) -> None:
    params = {text: [text, {"deep": text}] for text in TEXTS.values()}
    again = json.loads(json.dumps(params).encode())
    assert again == params
    config = local_lake(tmp_path, MAIN)
    assert asdict(config) == asdict(
        type(config).from_dict(json.loads(json.dumps(config.as_dict())))
    )
