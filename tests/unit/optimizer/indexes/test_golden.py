"""The golden files are those that the code writes, and this reader answers as they say."""

import json
from typing import Any

import pytest

from optimizer.indexes.domain.envelope import Expected
from optimizer.indexes.domain.hashing import hash_bytes
from optimizer.indexes.domain.leaf_probes import Opened
from optimizer.indexes.domain.manifest import read
from optimizer.indexes.domain.probing import opened, probe
from optimizer.indexes.domain.puffin import footer_blobs
from tests.support.golden_columns import BY_NAME
from tests.support.golden_indexes import DATA_FILE, FOLDER, LOCATION, MANIFEST, PUFFIN, TABLE, files
from tests.support.golden_probes import predicate_of

MOST_BYTES = 200_000
EXPECTED: Any = json.loads((FOLDER / "expected.json").read_bytes())


def test_the_golden_files_are_up_to_date() -> None:
    # Write them again by `python -m tests.support.golden_indexes`.
    there = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert there == dict(files())
    assert sum(map(len, there.values())) < MOST_BYTES


def test_the_manifest_says_where_the_puffins_blobs_lie() -> None:
    manifest = read((FOLDER / MANIFEST).read_bytes(), TABLE)
    assert manifest.covered[LOCATION].data_file == DATA_FILE
    listed = {
        (f"lakewarden-{kind}-v1", field_id, place.offset, place.length)
        for _, (field_id, kind), place in manifest.entries()
    }
    puffin = (FOLDER / PUFFIN).read_bytes()
    assert listed == set(footer_blobs(puffin))
    assert {(one["offset"], one["length"]) for one in EXPECTED["blobs"]} == {
        (offset, length) for _, _, offset, length in footer_blobs(puffin)
    }


def test_the_footer_is_that_of_the_puffin_specification() -> None:
    puffin = (FOLDER / PUFFIN).read_bytes()
    for blob in json.loads(puffin[puffin.rindex(b"PFA1", 0, -4) + 4 : -12])["blobs"]:
        assert {"type", "fields", "snapshot-id", "sequence-number", "offset", "length"} <= set(blob)


def index(name: str) -> Opened:
    (blob,) = (one for one in EXPECTED["blobs"] if one["name"] == name)
    data = (FOLDER / PUFFIN).read_bytes()[blob["offset"] : blob["offset"] + blob["length"]]
    column = next(one for one in BY_NAME.values() if one.field_id == blob["field_id"])
    found = opened(
        data,
        Expected(
            TABLE, column.field_id, hash_bytes(LOCATION.encode()), DATA_FILE.records, column.type
        ),
    )
    assert isinstance(found, Opened)
    return found


def check(said: Any, predicate: Any, column: str, names: list[str]) -> None:
    verdict = probe(predicate_of(predicate, column), map(index, names), DATA_FILE.records)
    rows = None if verdict.rows is None or not verdict.keep else list(verdict.rows)
    assert (verdict.keep, rows) == (said["answer"] == "keep", said["rows"]), said


@pytest.mark.parametrize("name", [one["name"] for one in EXPECTED["blobs"]])
def test_blobs_answer_as_the_file_says(name: str) -> None:
    field_id = index(name).header.field_id
    column = next(one.name for one in BY_NAME.values() if one.field_id == field_id)
    asked = [one for one in EXPECTED["probes"] if one["blob"] == name]
    assert asked
    for said in asked:
        check(said, said, column, [name])


@pytest.mark.parametrize("said", EXPECTED["trees"], ids=lambda one: one["predicate"]["op"])
def test_trees_answer_as_the_file_says(said: Any) -> None:
    check(said, said["predicate"], "", said["blobs"])
