"""A manifest is whole, joins with others, and is refused when it is damaged or of another table."""

import gzip
import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.manifest import (
    BlobPlace,
    Covered,
    DataFile,
    Manifest,
    joined,
    manifest_name,
    newest,
    read,
    sequence_of,
    write,
)
from portal.lake.errors import RuleViolation

TABLE = UUID("11111111-2222-3333-4444-555555555555")
FILE = DataFile("s3://lake/t/data/ä-0.parquet", 1000, 50, 3, ((4, 20), (500, 30)))


def covered(file: DataFile, *blobs: tuple[int, str, int]) -> Covered:
    return Covered(file, {(fid, kind): BlobPlace("p.puffin", at, 9) for fid, kind, at in blobs})


def manifest(*files: Covered, sequence: int = 1) -> Manifest:
    return Manifest(TABLE, sequence, {one.data_file.location: one for one in files}, "x", "now")


def test_a_manifest_is_read_back() -> None:
    one = manifest(covered(FILE, (1, "bloom", 4), (2, "kind of tomorrow", 13)))
    assert read(write(one), TABLE) == one
    assert write(read(write(one), TABLE)) == write(one)
    assert one.blob(FILE.location, 1, Kind.BLOOM) == BlobPlace("p.puffin", 4, 9)
    assert one.blob(FILE.location, 1, Kind.BITMAP) is None
    assert one.blob("elsewhere", 1, Kind.BLOOM) is None


def test_manifests_of_one_number_join() -> None:
    other = DataFile("s3://lake/t/data/1.parquet", 5, 5)
    ours = manifest(covered(FILE, (1, "bloom", 4), (2, "bloom", 5)), sequence=4)
    theirs = manifest(covered(FILE, (2, "bloom", 70)), covered(other, (1, "bloom", 6)), sequence=4)
    both = joined([ours, theirs])
    assert both.sequence == 4
    assert [(file.location, *key, place.offset) for file, key, place in both.entries()] == [
        (FILE.location, 1, "bloom", 4),
        (FILE.location, 2, "bloom", 70),
        (other.location, 1, "bloom", 6),
    ]


def test_a_data_file_written_again_under_its_name_loses_the_blobs_of_before() -> None:
    again = DataFile(FILE.location, 1001, 50, 9)
    both = joined(
        [manifest(covered(FILE, (1, "bloom", 4))), manifest(covered(again, (2, "bloom", 5)))]
    )
    assert both.covered[FILE.location] == covered(again, (2, "bloom", 5))


def test_dead_data_files_and_dropped_kinds_are_left_out() -> None:
    one = manifest(covered(FILE, (1, "bloom", 4), (2, "bitmap", 5)))
    assert list(one.only(lambda _, key: key[1] == "bitmap").entries()) == [
        (FILE, (2, "bitmap"), BlobPlace("p.puffin", 5, 9))
    ]
    assert one.only(lambda file, _: file.location != FILE.location).covered == {}


@pytest.mark.parametrize(
    ("size", "records", "sequence", "same"),
    [
        (1000, 50, 3, True),
        (1000, 50, None, True),
        (1000, 50, 4, False),
        (1, 50, 3, False),
        (1000, 5, 3, False),
    ],
)
def test_a_data_file_is_known_by_all_that_both_know(
    size: int, records: int, sequence: int | None, same: bool
) -> None:
    assert FILE.is_the_same_as(size, records, sequence) is same


def test_names_carry_the_number_and_the_greatest_is_newest() -> None:
    names = [manifest_name(number, UUID(int=at)) for number, at in [(9, 1), (12, 3), (12, 2)]]
    assert sequence_of(names[0]) == 9
    assert sequence_of(f".{names[0]}") is None
    assert newest([*names, ".v00000000000000000099-x.json.gz", "readme"]) == [names[2], names[1]]
    assert newest([]) == []


def edited(**changes: object) -> bytes:
    whole = json.loads(gzip.decompress(write(manifest(covered(FILE, (1, "bloom", 4))))))
    return gzip.compress(json.dumps({**whole, **changes}).encode(), mtime=0)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (edited(format="other"), "foreign"),
        (edited(version=2), "newer"),
        (edited(table_uuid=str(UUID(int=1))), "table"),
        (edited(blobs=[[7, 1, "bloom", 0, 4, 9]]), "damaged"),
        (edited(blobs=[[-1, 1, "bloom", 0, 4, 9]]), "damaged"),
        (edited(files=["../../etc/passwd"]), "damaged"),
        (edited(data_files=[["a", 1]]), "damaged"),
        (edited(data_files=None), "damaged"),
        (gzip.compress(b"[" * 100_000, mtime=0), "damaged"),
        (gzip.compress(b"[]", mtime=0), "damaged"),
        (b"", "damaged"),
    ],
)
def test_an_unusable_manifest_is_refused_with_its_reason(data: bytes, why: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        read(data, TABLE)
    assert (caught.value.code, caught.value.fields["why"]) == ("index.manifest", why)


def test_a_manifest_cut_at_any_byte_is_refused() -> None:
    whole = write(manifest(covered(FILE, (1, "bloom", 4))))
    for length in range(len(whole) - 8):
        with pytest.raises(RuleViolation):
            read(whole[:length], TABLE)


def test_unknown_keys_and_longer_rows_are_passed_over() -> None:
    one = read(edited(tomorrow=1, blobs=[[0, 1, "bloom", 0, 4, 9, "more"]]), TABLE)
    assert one.blob(FILE.location, 1, Kind.BLOOM) == BlobPlace("p.puffin", 4, 9)


@given(st.binary())
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(RuleViolation):
        read(data, TABLE)


def test_what_is_not_worth_an_index_is_remembered_beside_the_blobs() -> None:
    alone = Covered(DataFile("s3://lake/t/data/2.parquet", 5, 5), {}, {(2, "auto"): "all nulls"})
    before = manifest(covered(FILE, (1, "bloom", 4)), alone)
    found = read(write(before), TABLE)
    assert found.covered == before.covered
    assert "refused" not in json.loads(gzip.decompress(write(manifest(covered(FILE)))))
    more = found.adding([Covered(FILE, {}, {(3, "bitmap"): "unique"})])
    assert more.covered[FILE.location].blobs == before.covered[FILE.location].blobs
    assert more.covered[FILE.location].refused == {(3, "bitmap"): "unique"}
    left = more.only(lambda _, key: key[0] == 3)
    assert set(left.covered) == {FILE.location}
