"""Tests where the portal logs in on behalf of a person, and which password files it reads."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from portal.lake.errors import NotAllowed, PortalError
from refresh.clusters.services.clusters import Actor, cluster_read
from refresh.clusters.services.editing import cluster_edit
from refresh.clusters.services.front_ends import login_of
from refresh.clusters.services.reach import ANYWHERE, Reach, cluster_password
from refresh.clusters.services.trial import ClusterParams, cluster_test
from refresh.models import Cluster
from stack.process import LOOPBACK
from stack.starrocks.running import RunningCluster
from tests.component.conftest import NOW, People
from tests.component.refresh.clusters.test_refresh_cluster_pages import signed_in
from tests.component.refresh.reachable import lake_at, password_file, row_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def closed(tmp_path: Path, settings: Any) -> None:
    lake_at(tmp_path, settings)
    settings.LAKEWARDEN_PASSWORD_DIR = tmp_path / "passwords"
    settings.LAKEWARDEN_PASSWORD_DIR.mkdir()
    settings.LAKEWARDEN_CLUSTER_ADDRESSES = ()


def secret(settings: Any) -> str:
    return str(password_file(settings.LAKEWARDEN_PASSWORD_DIR))


@contextmanager
def listener() -> Iterator[tuple[str, socket.socket]]:
    with socket.create_server((LOOPBACK, 0)) as server:
        server.settimeout(0.3)
        yield f"{LOOPBACK}:{server.getsockname()[1]}", server


def tried(client: Any, addresses: list[str], file: str) -> Any:
    said = {"addresses": addresses, "user": "svc", "password_file": file}
    return client.post(reverse("refresh-api:cluster-test"), said, content_type="application/json")


def test_an_operator_sends_no_secret_to_an_address_of_their_own(
    people: People, settings: Any
) -> None:
    file = secret(settings)
    with listener() as (address, server):
        answer = tried(signed_in(people.operator), [address], file)
        with pytest.raises(TimeoutError):
            server.accept()
    assert (answer.status_code, answer.json()["code"]) == (403, "cluster.address_not_allowed")
    gone = tried(signed_in(people.operator), [address], file)
    assert gone.json()["message"] == answer.json()["message"], "an open port looks like a closed"


def test_an_admin_does_with_a_fresh_log_in_and_not_with_an_old_one(
    people: People, settings: Any, cluster: RunningCluster
) -> None:
    places = [f"{host}:{port}" for host, port in cluster.addresses()]
    client = signed_in(people.admin)
    session = client.session
    session.pop("lw_authenticated_at", None)
    session.save()
    assert tried(client, places, secret(settings)).status_code == 403
    client.post(reverse("ui:fresh-login"), {"password": "correct horse staple"})
    answer = tried(client, places, secret(settings))
    assert (answer.status_code, answer.json()["problems"]) == (200, [])


def test_the_pages_keep_to_it_too(people: People, settings: Any) -> None:
    said = {"name": "bi", "user": "svc", "password_file": secret(settings)}
    with listener() as (address, server):
        for do in ("test", "add"):
            page = signed_in(people.operator).post(
                reverse("refresh:cluster-add"), said | {"addresses": address, "do": do}
            )
            assert "not among the addresses that operators may use" in page.content.decode()
        with pytest.raises(TimeoutError):
            server.accept()
    assert not Cluster.objects.exists()


def test_what_answered_sends_us_nowhere_else(cluster: RunningCluster, settings: Any) -> None:
    """A server of somebody's own could list any address as its front end."""
    first, second, third = (f"{host}:{port}" for host, port in cluster.addresses())
    settings.LAKEWARDEN_CLUSTER_ADDRESSES = (first,)
    wish = ClusterParams((first,), "svc", secret(settings))
    report = cluster_test(wish, reach=Reach())
    assert not report.is_good
    assert f"{second}, {third}: not among" in " ".join(report.problems)
    assert report.stands_for == []
    assert cluster_test(wish, reach=ANYWHERE).is_good
    settings.LAKEWARDEN_CLUSTER_ADDRESSES = (first, "127.0.0.0/8:*")
    assert cluster_test(wish, reach=Reach()).is_good


def test_an_operator_changes_the_login_of_a_cluster_whose_addresses_an_admin_kept(
    cluster: RunningCluster, settings: Any
) -> None:
    row = row_of(cluster, settings.LAKEWARDEN_PASSWORD_DIR, only=1)
    cluster_read(row, now=NOW)
    by = Actor("otto", is_staff=True, is_admin=False)
    other = settings.LAKEWARDEN_PASSWORD_DIR / "next"
    other.mkdir()
    wish = ClusterParams(tuple(row.addresses), "svc", str(password_file(other)))
    cluster_edit(row, wish, version=0, by=by, now=NOW)
    assert row.version == 1
    strange = ClusterParams(("127.0.0.99:1",), "svc", wish.password_file)
    with pytest.raises(NotAllowed):
        cluster_edit(row, strange, version=1, by=by, now=NOW)


def refusal(path: object) -> str:
    with pytest.raises(PortalError) as caught:
        cluster_password(str(path))
    return caught.value.message.replace(str(path), "PATH")


def test_of_a_file_elsewhere_nobody_learns_whether_it_is_there(
    tmp_path: Path, settings: Any
) -> None:
    there = password_file(tmp_path)
    links = settings.LAKEWARDEN_PASSWORD_DIR
    (links / "out").symlink_to(there)
    (links / "up").symlink_to(tmp_path)
    (links / "loop").symlink_to(links / "loop")
    paths = [
        there,
        tmp_path / "absent",
        "/etc/shadow",
        "/proc/self/environ",
        links / ".." / there.name,
        links / "out",
        links / "up" / there.name,
        links / "loop",
        links / "up" / "absent",
    ]
    assert len({refusal(path) for path in paths}) == 1
    assert "is not below" in refusal(there)


def test_a_file_of_the_directory_is_read_and_told_of(tmp_path: Path, settings: Any) -> None:
    assert cluster_password(secret(settings)) == "secret"
    inner = settings.LAKEWARDEN_PASSWORD_DIR / "..data"
    inner.mkdir()
    (settings.LAKEWARDEN_PASSWORD_DIR / "bi").symlink_to(password_file(inner))
    assert cluster_password(str(settings.LAKEWARDEN_PASSWORD_DIR / "bi")) == "secret"
    assert "cannot be read" in refusal(settings.LAKEWARDEN_PASSWORD_DIR / "absent")
    assert "is no plain file" in refusal(settings.LAKEWARDEN_PASSWORD_DIR)


def test_a_file_of_another_owner_is_read_by_a_group_that_cannot_write_it(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of root that web and refresh worker read, as docs/deploy.md makes them."""
    file = Path(secret(settings))
    another = file.stat().st_uid + 1
    for mode, is_read in ((0o640, True), (0o660, False), (0o644, False)):
        file.chmod(mode)
        with monkeypatch.context() as patched:
            patched.setattr("os.geteuid", lambda: another)
            if is_read:
                assert cluster_password(str(file)) == "secret"
            else:
                assert "may be read or changed by others" in refusal(file)
        assert "may be read or changed by others" in refusal(file)


def test_a_password_that_was_replaced_is_sent_at_the_next_connection(
    cluster: RunningCluster, settings: Any
) -> None:
    row = row_of(cluster, settings.LAKEWARDEN_PASSWORD_DIR, only=1)
    assert login_of(row).password == "secret"
    Path(row.password_file).write_text("the-next-one\n", encoding="utf-8")
    assert login_of(row).password == "the-next-one"
