"""Tests which addresses of front ends an operator may name."""

import pytest

from portal.lake.errors import RuleViolation
from refresh.clusters.domain.addresses import Place
from refresh.clusters.domain.allowed_addresses import AllowedPlaces


@pytest.mark.parametrize(
    ("entry", "held", "not_held"),
    [
        ("fe1.example.org", ["fe1.example.org", "FE1.example.org:9030"], ["fe1.example.org:22"]),
        ("fe1.example.org:*", ["fe1.example.org:22"], ["fe2.example.org", "xfe1.example.org"]),
        (
            "*.sr.example.org",
            ["fe1.sr.example.org", "a.b.sr.example.org:9030"],
            ["sr.example.org", "evilsr.example.org", "fe1.sr.example.org.evil.org"],
        ),
        ("10.4.0.0/16", ["10.4.255.1"], ["10.5.0.1", "10.4.0.1:3306", "name.in.that.net"]),
        ("10.4.0.0/16:19030", ["10.4.0.1:19030"], ["10.4.0.1"]),
        ("127.0.0.0/8:*", ["127.0.0.7:41", "[::ffff:127.0.0.7]:41"], ["localhost:41", "[::1]:41"]),
        ("10.4.0.7", ["10.4.0.7"], ["10.4.0.70"]),
        ("[fd00::/8]:*", ["[fd00::1]:22"], ["[fe80::1]:22"]),
        ("[fd00::1]", ["[fd00::1]"], ["[fd00::1]:22"]),
    ],
)
def test_an_entry_holds_its_addresses_and_no_other(
    entry: str, held: list[str], not_held: list[str]
) -> None:
    allowed = AllowedPlaces.read([entry, " "])
    assert [text for text in held if not allowed.holds(Place.read(text))] == []
    assert [text for text in not_held if allowed.holds(Place.read(text))] == []


def test_without_entries_nothing_is_allowed() -> None:
    assert not AllowedPlaces.read([]).holds(Place.read("127.0.0.1"))


@pytest.mark.parametrize(
    "entry", ["*", "*.", "a*b.org", "10.4.0.1/16", "fe1:http", "*.*.org", ":*"]
)
def test_an_entry_that_is_none_stops(entry: str) -> None:
    with pytest.raises(RuleViolation, match="LAKEWARDEN_CLUSTER_ADDRESSES"):
        AllowedPlaces.read([entry])
