"""The golden files are those that the code writes, and this reader answers as they say."""

import json
from typing import Any

import numpy as np
import pytest

from optimizer.indexes.domain.bloom import Bloom
from optimizer.indexes.domain.envelope import Expected, Refusal, refusal, unwrap
from optimizer.indexes.domain.hashing import hash_bytes
from optimizer.indexes.domain.manifest import read
from optimizer.indexes.domain.puffin import footer_blobs
from tests.support.golden_columns import BY_NAME
from tests.support.golden_indexes import DATA_FILE, FOLDER, LOCATION, MANIFEST, PUFFIN, TABLE, files

MOST_BYTES = 200_000


def expected() -> Any:
    return json.loads((FOLDER / "expected.json").read_bytes())


def test_the_golden_files_are_up_to_date() -> None:
    # Write them again by `python -m tests.support.golden_indexes`.
    there = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert there.keys() == files().keys()
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
    assert {(one["offset"], one["length"]) for one in expected()["blobs"]} == {
        (offset, length) for _, _, offset, length in footer_blobs(puffin)
    }


def test_pyiceberg_and_its_like_read_the_footer() -> None:
    puffin = (FOLDER / PUFFIN).read_bytes()
    for blob in json.loads(puffin[puffin.rindex(b"PFA1", 0, -4) + 4 : -12])["blobs"]:
        assert {"type", "fields", "snapshot-id", "sequence-number", "offset", "length"} <= set(blob)


def opened(name: str) -> bytes:
    (blob,) = (one for one in expected()["blobs"] if one["name"] == name)
    data = (FOLDER / PUFFIN).read_bytes()[blob["offset"] : blob["offset"] + blob["length"]]
    column = next(one for one in BY_NAME.values() if one.field_id == blob["field_id"])
    found = unwrap(data)
    assert not isinstance(found, Refusal)
    header, body = found
    looked_for = Expected(
        TABLE, column.field_id, hash_bytes(LOCATION.encode()), DATA_FILE.records, column.type
    )
    assert refusal(header, looked_for) is None
    return body


@pytest.mark.parametrize(
    "name", [one["name"] for one in expected()["blobs"] if one["kind"] == "bloom"]
)
def test_blooms_answer_by_the_hashes_of_the_file(name: str) -> None:
    hashes = {(one["column"], one["value"]): one["hash"] for one in expected()["values"]}
    read_bloom = Bloom.read(opened(name))
    for probe in expected()["probes"]:
        written = hashes.get((name.removesuffix("_bloom"), probe.get("value")))
        if probe["blob"] == name and written:
            found = read_bloom.might_hold(np.array([int(written, 16)], np.uint64))[0]
            assert (probe["answer"] == "keep") is bool(found)
