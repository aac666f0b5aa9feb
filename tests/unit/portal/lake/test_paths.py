"""Canonical paths: one spelling for one place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath
from tests.unit.portal.lake.places import paths


@given(paths())
def test_a_canonical_path_reads_back_as_itself(path: LakePath) -> None:
    assert LakePath.parse(str(path)) == path


@given(paths(), paths())
def test_at_or_under_is_a_comparison_of_segments(one: LakePath, other: LakePath) -> None:
    expected = (one.scheme, one.authority) == (other.scheme, other.authority) and (
        one.segments[: other.depth] == other.segments
    )
    assert one.is_at_or_under(other) == expected


@given(paths(), st.sampled_from(["x", "dt=2026-11-21", "a b", "é", "100%", "a:b"]))
def test_a_child_lies_under_its_parent(path: LakePath, name: str) -> None:
    child = path.child(name)
    assert child.parent == path
    assert child.name == name
    assert child.is_at_or_under(path)
    assert not path.is_at_or_under(child)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("/user/alice/", "hdfs://nn1/user/alice"),
        ("/user//alice", "hdfs://nn1/user/alice"),
        ("HDFS://NN1:8020/user", "hdfs://nn1/user"),
        ("hdfs://nn1", "hdfs://nn1/"),
        ("file:/tmp/x", "file:///tmp/x"),
        ("file:///tmp/x/", "file:///tmp/x"),
        ("file://localhost/tmp", "file:///tmp"),
        ("s3a://bucket/a%20b/c=%3A", "s3a://bucket/a%20b/c=%3A"),
        ("/a b/é", "hdfs://nn1/a b/é"),
        ("/C:/x", "hdfs://nn1/C:/x"),
    ],
)
def test_every_spelling_leads_to_one(text: str, canonical: str) -> None:
    path = LakePath.parse(text, default_fs="hdfs://NN1:8020", aliases={"nn1:8020": "nn1"})
    assert str(path) == canonical


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("user/alice", "path.relative"),
        ("", "path.relative"),
        ("hdfs:relative", "path.relative"),
        ("/user/../etc", "path.dotdot"),
        ("/user/./x", "path.dotdot"),
        ("/user/a\nb", "path.control"),
        ("/user/\x00", "path.control"),
    ],
)
def test_what_names_no_place_is_refused(text: str, code: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        LakePath.parse(text)
    assert caught.value.code == code


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "a\x01"])
def test_a_child_cannot_leave_its_parent(name: str) -> None:
    with pytest.raises(RuleViolation):
        LakePath.parse("/user").child(name)


def test_the_root_is_its_own_parent_and_holds_everything() -> None:
    root = LakePath.parse("/")
    assert root.parent == root
    assert LakePath.parse("/a").is_at_or_under(root)
    assert not LakePath.parse("hdfs://nn1/a").is_at_or_under(root)
