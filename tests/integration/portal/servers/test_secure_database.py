"""Tests the portal's database over TLS: who is trusted, what is said, and a change of password."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils.module_loading import import_string
from pymysql import OperationalError

from portal.settings.databases import database_from_url
from stack.ledger import Ledger
from stack.process import LOOPBACK
from tests.support.certificates import Signer
from tests.support.production import manage
from tests.support.secure_servers import CERTIFIED, PASSWORD, USER, SecureMariaDb

FROZEN_SECONDS = 60
"""Far less than any time-out of TCP, far more than two waits of two seconds."""


class World:
    """A MariaDB with TLS, an authority, and the settings of a site that uses them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.signer = Signer(folder)
        self.good = self.signer.pair("server")
        self.client = self.signer.pair("client")
        ledger = Ledger(folder / "stack.json")
        self.server = SecureMariaDb(folder, ledger=ledger, authority=self.signer.file)
        self.server.present(self.good)

    def settings(self, user: str = USER, **more: str) -> dict[str, str]:
        file = self.folder / "password"
        file.write_text(f"{PASSWORD}\n", encoding="utf-8")
        return {
            "LAKEWARDEN_DB_URL": f"mysql://{user}@{LOOPBACK}:{self.server.port}/portal",
            "LAKEWARDEN_DB_PASSWORD_FILE": str(file),
            "LAKEWARDEN_DB_CA": str(self.signer.file),
            **more,
        }

    def connect(self, settings: dict[str, str]) -> Any:
        """Open a connection as Django does; ask which cipher it uses."""
        with self.link(settings) as link, link.cursor() as cursor:
            cursor.execute("show session status like 'Ssl_cipher'")
            return cursor.fetchone()[1]

    def link(self, settings: dict[str, str]) -> Any:
        """Open a connection as Django does."""
        url = settings["LAKEWARDEN_DB_URL"]
        described = database_from_url(url, var=self.folder, environment=settings)
        described |= {"TIME_ZONE": None, "AUTOCOMMIT": True, "ATOMIC_REQUESTS": False}
        wrapper = import_string(f"{described['ENGINE']}.base.DatabaseWrapper")(described)
        return wrapper.get_new_connection(wrapper.get_connection_params())


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("tls"))
    made.server.start()
    try:
        made.server.wait_ready()
        yield made
    finally:
        made.server.stop()


def test_a_site_with_tls_passes_the_checks_of_a_deployment(world: World) -> None:
    certified = {
        "LAKEWARDEN_DB_CERT": str(world.client.certificate),
        "LAKEWARDEN_DB_KEY": str(world.client.key),
    }
    for settings in (world.settings(), world.settings(CERTIFIED, **certified)):
        assert world.connect(settings)
        words = ("check", "--deploy", "--fail-level", "WARNING")
        done = manage(*words, var=world.folder, settings=settings)
        assert done.returncode == 0, done.stderr
        done = manage("check", "--database", "default", var=world.folder, settings=settings)
        assert done.returncode == 0, done.stderr
    with pytest.raises(OperationalError, match="Access denied"):
        world.connect(world.settings(CERTIFIED))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("another authority", "not trusted. Name the certificate of that authority in LAKEWARDEN_"),
        ("expired", "its certificate has expired. Renew the server's certificate"),
        ("another host", "for another host name. Use a name of the certificate in LAKEWARDEN_DB_"),
    ],
)
def test_a_certificate_that_does_not_hold_is_refused_in_plain_words(
    world: World, case: str, words: str
) -> None:
    other = Signer(world.folder, "other")
    pair = {
        "another authority": other.pair("foreign"),
        "expired": world.signer.pair("expired", days=-1),
        "another host": world.signer.pair("elsewhere", address="192.0.2.1"),
    }[case]
    world.server.present(pair)
    try:
        done = manage("check", "--database", "default", var=world.folder, settings=world.settings())
    finally:
        world.server.present(world.good)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert f"MariaDB at {LOOPBACK}:{world.server.port}: " in last
    assert words in last
    assert world.connect(world.settings())


def test_a_changed_password_counts_for_the_next_connection_without_a_gap(world: World) -> None:
    settings = world.settings()
    file = Path(settings["LAKEWARDEN_DB_PASSWORD_FILE"])
    file.write_text(f"second-password\n{PASSWORD}\n", encoding="utf-8")
    assert world.connect(settings)
    world.server.root(f"alter user '{USER}'@'%' identified by 'second-password'")
    try:
        assert world.connect(settings)
        file.write_text("second-password\n", encoding="utf-8")
        assert world.connect(settings)
        file.write_text("wrong\n", encoding="utf-8")
        with pytest.raises(OperationalError, match="Access denied"):
            world.connect(settings)
        file.unlink()
        with pytest.raises(OperationalError, match="LAKEWARDEN_DB_PASSWORD_FILE names cannot be"):
            world.connect(settings)
    finally:
        world.server.root(f"alter user '{USER}'@'%' identified by '{PASSWORD}'")


def test_a_server_without_tls_gets_no_password(world: World) -> None:
    world.server.stop()
    world.server.speaks_tls = False
    world.server.start()
    world.server.wait_ready()
    try:
        with pytest.raises(OperationalError, match="speaks no TLS at this port"):
            world.connect(world.settings())
    finally:
        world.server.stop()
        world.server.speaks_tls = True
        world.server.start()
        world.server.wait_ready()


def test_a_frozen_server_is_waited_for_no_longer_than_the_setting_says(world: World) -> None:
    settings = world.settings(LAKEWARDEN_DB_ANSWER_SECONDS="2")
    link = world.link(settings)
    pid = world.server.process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(OperationalError, match="timed out"), link.cursor() as cursor:
            cursor.execute("select 1")
        with pytest.raises(OperationalError):
            world.link(settings)
        assert time.monotonic() - began < FROZEN_SECONDS
    finally:
        os.kill(pid, signal.SIGCONT)
    assert world.connect(settings)
