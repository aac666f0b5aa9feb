"""A ResourceManager with several members: whoever leads is asked, wherever it is."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from requests import PreparedRequest

from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.spark.masters.resource_manager import Proof, Queue, ResourceManager
from tests.support.fake_yarn import FakeYarn, fake_yarn
from tests.support.lakes import local_lake

TAG = "lw-1-1"


@pytest.fixture
def members() -> Iterator[tuple[FakeYarn, FakeYarn]]:
    with fake_yarn() as first, fake_yarn() as second:
        yield first, second


def manager_of(tmp_path: Path, *, user: str | None = None, **properties: str) -> ResourceManager:
    lake = replace(local_lake(tmp_path, LakeId("main")), hadoop_user=user)
    lake.hadoop_conf.update(
        {f"yarn.resourcemanager.{name}": value for name, value in properties.items()}
    )
    return ResourceManager.of(lake)


def available(
    tmp_path: Path, first: FakeYarn, second: FakeYarn, *, user: str | None = None
) -> ResourceManager:
    return manager_of(
        tmp_path,
        user=user,
        **{
            "ha.rm-ids": "rm1, rm2",
            "webapp.address.rm1": first.address,
            "webapp.address.rm2": second.address,
        },
    )


def stand_by(member: FakeYarn, leader: FakeYarn) -> None:
    """Answer as Hadoop's RMWebAppFilter does on a member that does not lead."""
    member.status = 307
    member.headers = {"Location": f"http://{leader.address}/ws/v1/cluster/apps"}


def lead(member: FakeYarn) -> None:
    member.status, member.headers = 200, {}


def test_the_leader_is_found_and_asked_first_from_then_on(
    tmp_path: Path, members: tuple[FakeYarn, FakeYarn]
) -> None:
    first, second = members
    stand_by(first, second)
    name = second.has(TAG, "RUNNING")
    for _ in range(3):
        assert [one.id for one in available(tmp_path, *members).tagged(TAG)] == [name]
    assert (first.n_asked, second.n_asked) == (1, 3)
    stand_by(second, first)
    lead(first)
    assert available(tmp_path, *members).tagged(TAG) == []
    available(tmp_path, *members).kill("application_1_0001")
    assert (first.killed, second.killed) == (["application_1_0001"], [])


def test_a_member_that_is_down_is_passed_over(
    tmp_path: Path, members: tuple[FakeYarn, FakeYarn]
) -> None:
    _, second = members
    name = second.has(TAG, "RUNNING")
    manager = manager_of(
        tmp_path,
        **{
            "ha.rm-ids": "rm1,rm2",
            "webapp.address.rm1": "127.0.0.1:1",
            "webapp.address.rm2": second.address,
        },
    )
    assert [one.id for one in manager.tagged(TAG)] == [name]


def test_what_a_standby_says_of_itself_is_not_taken_for_the_leader_s(
    tmp_path: Path, members: tuple[FakeYarn, FakeYarn]
) -> None:
    first, second = members
    # A standby sends this one question to nobody.
    first.ha_state = "STANDBY"
    assert available(tmp_path, first, second).service().ha_state == "ACTIVE"
    second.ha_state = "STANDBY"
    with pytest.raises(ExternalFailure, match=r": a standby; .*: a standby"):
        available(tmp_path, first, second).service()


def test_while_nobody_leads_nothing_is_known(
    tmp_path: Path, members: tuple[FakeYarn, FakeYarn]
) -> None:
    first, second = members
    stand_by(first, second)
    # A member that knows no leader says so with 200, and asks to come again.
    second.headers = {"Refresh": f"1;url=http://{second.address}/ws/v1/cluster/apps"}
    with pytest.raises(ExternalFailure) as told:
        available(tmp_path, *members).tagged(TAG)
    assert told.value.code == "yarn.unreachable"
    assert told.value.message.count(": a standby") == 2


class _Named:
    """Proves a name without a KDC."""

    def for_host(self, host: str) -> Callable[[PreparedRequest], PreparedRequest]:
        def prove(request: PreparedRequest) -> PreparedRequest:
            request.headers["Authorization"] = f"Negotiate {host}"
            return request

        return prove


def test_an_answer_says_whether_the_name_was_proven(members: tuple[FakeYarn, FakeYarn]) -> None:
    first, _ = members
    address = f"http://{first.address}"
    manager = ResourceManager((address,), user=None, proof=cast("Proof", _Named()))
    found = [manager.service()]
    first.wants_proof = True
    found.append(manager.service())
    assert [one.is_proven for one in found] == [False, True]
    assert first.n_asked == 3


def test_a_refusal_is_told_with_whom_and_in_yarn_s_words(
    tmp_path: Path, members: tuple[FakeYarn, FakeYarn]
) -> None:
    first, second = members
    stand_by(first, second)
    second.status = 403
    second.refusal = "User steward cannot perform operation MODIFY_APP."
    manager = available(tmp_path, first, second, user="steward")
    for ask in (lambda: manager.tagged(TAG), lambda: manager.kill("application_1_0001")):
        with pytest.raises(ExternalFailure, match=r"MODIFY_APP \(HTTP 403\)") as told:
            ask()
        assert (told.value.code, told.value.retryable) == ("yarn.refused", True)
        assert told.value.message.startswith("YARN refuses the user steward: ")
        assert "yarn.admin.acl" in told.value.message
    second.refusal = ""
    with pytest.raises(ExternalFailure, match=rf"{second.address}: HTTP 403\."):
        manager.tagged(TAG)


@pytest.mark.parametrize(
    ("properties", "place"),
    [
        ({"hostname": "127.0.0.9"}, "http://127.0.0.9:8088"),
        ({"ha.rm-ids": "a", "hostname.a": "127.0.0.9"}, "http://127.0.0.9:8088"),
    ],
)
def test_a_host_alone_means_hadoop_s_own_port(
    tmp_path: Path, properties: dict[str, str], place: str
) -> None:
    with pytest.raises(ExternalFailure, match=f"{place}: ConnectionError"):
        manager_of(tmp_path, **properties).tagged(TAG)


def test_queues_that_take_applications_are_told_with_their_paths(tmp_path: Path) -> None:
    with fake_yarn() as yarn:
        manager = manager_of(tmp_path, **{"webapp.address": yarn.address})
        assert manager.queues() == [
            Queue("root.default", yields_to_queues=False, yields_within=False)
        ]
        yarn.queues = {"root.etl.a": (False, True), "root.etl.b": (True, False)}
        assert manager.queues() == [
            Queue("root.etl.a", yields_to_queues=True, yields_within=False),
            Queue("root.etl.b", yields_to_queues=False, yields_within=True),
        ]
        yarn.scheduler = "fairScheduler"
        assert manager.queues() is None
        yarn.status = 503
        with pytest.raises(ExternalFailure) as found:
            manager.queues()
        assert found.value.code == "yarn.unreachable"
