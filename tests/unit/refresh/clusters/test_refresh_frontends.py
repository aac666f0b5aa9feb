"""Front ends: rows are read by column name, and the newest witness says in what state one is."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import ExternalFailure
from refresh.clusters.domain.frontends import (
    Contact,
    FeState,
    empty_after,
    read_frontends,
    state_of,
)
from tests.unit.refresh.refresh_names import front_end

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER = NOW + timedelta(seconds=1)
ROW: dict[str, object] = {
    "Id": "1",
    "Name": "10.77.0.2_9010_1",
    "IP": "10.77.0.2",
    "EditLogPort": "9010",
    "HttpPort": "8030",
    "QueryPort": "9030",
    "RpcPort": "9020",
    "Role": "LEADER",
    "ClusterId": "7",
    "Join": "true",
    "Alive": "true",
    "ReplayedJournalId": "12",
    "LastHeartbeat": "2026-11-22 12:00:00",
    "IsHelper": "true",
    "ErrMsg": "",
    "StartTime": "2026-11-20 08:00:00",
    "Version": "3.5.2-abc",
}


@given(st.permutations(list(ROW)))
def test_rows_are_read_by_name_whatever_the_order(columns: list[str]) -> None:
    (fe,) = read_frontends([{name: ROW[name] for name in columns}])
    assert (fe.name, fe.host, fe.query_port) == ("10.77.0.2_9010_1", "10.77.0.2", 9030)
    assert (fe.is_alive, fe.is_leader, fe.start) == (True, True, "2026-11-20 08:00:00")
    assert fe.version.release == (3, 5, 2)


def test_the_columns_of_the_old_version_are_read_too() -> None:
    old = {name: value for name, value in ROW.items() if name not in ("Id", "StartTime")}
    (fe,) = read_frontends([{**old, "Role": "FOLLOWER", "IsMaster": "true", "Version": "2.2.9-x"}])
    assert fe.is_leader
    assert fe.start == ""
    dead = {**ROW, "Alive": "false", "StartTime": "NULL", "ErrMsg": "Connection refused"}
    (fe,) = read_frontends([dead])
    assert (fe.is_alive, fe.start, fe.error) == (False, "", "Connection refused")


@pytest.mark.parametrize("change", [{"QueryPort": "x"}, {"IP": None}, {"QueryPort": None}])
def test_a_row_without_what_is_needed_says_so(change: dict[str, object]) -> None:
    with pytest.raises(ExternalFailure, match="QueryPort"):
        read_frontends([{**ROW, **change}])
    with pytest.raises(ExternalFailure, match="Alive"):
        read_frontends([{"Name": "x", "IP": "y", "QueryPort": "1"}])


@pytest.mark.parametrize(
    ("alive", "error", "state"),
    [
        (True, "", FeState.ALIVE),
        (False, "Connection refused", FeState.DEAD),
        (False, "Read timed out", FeState.FROZEN),
        (False, "connect timed out", FeState.FROZEN),
        (False, "No route to host", FeState.FROZEN),
        (False, "", FeState.DEAD),
    ],
)
def test_the_leaders_list_tells_dead_from_frozen(alive: bool, error: str, state: FeState) -> None:
    fe = front_end("a", alive=alive, error=error)
    assert state_of(fe, listed_at=NOW, contact=None, contact_at=None) is state
    assert state_of(fe, listed_at=LATER, contact=Contact.REFUSED, contact_at=NOW) is state


@pytest.mark.parametrize(
    ("contact", "state"),
    [
        (Contact.ANSWERED, FeState.ALIVE),
        (Contact.REFUSED, FeState.DEAD),
        (Contact.TIMED_OUT, FeState.FROZEN),
    ],
)
@pytest.mark.parametrize("alive", [True, False])
def test_our_own_newer_contact_outweighs_the_list(
    contact: Contact, state: FeState, alive: bool
) -> None:
    fe = front_end("a", alive=alive, error="" if alive else "Connection refused")
    assert state_of(fe, listed_at=NOW, contact=contact, contact_at=NOW) is state


def test_a_new_start_means_caches_that_were_empty_after_the_old_one_was_seen() -> None:
    old, new = front_end("a", start="x"), front_end("a", start="y")
    assert empty_after(old, new, known_at=NOW) == NOW
    assert empty_after(old, old, known_at=NOW) is None
    assert empty_after(None, new, known_at=None) is None
    assert empty_after(old, front_end("a", start=""), known_at=NOW) is None
    assert empty_after(front_end("a", start=""), new, known_at=NOW) is None
