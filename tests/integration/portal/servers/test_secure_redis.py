"""Tests Redis over TLS with a user and a password file: checks, health, and Celery's messages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from kombu.exceptions import OperationalError
from pytest_django import Settings

from portal.lake.errors import ExternalFailure
from portal.servers.checks import broker_check
from portal.servers.redis import redis_client
from stack.ledger import Ledger
from stack.process import LOOPBACK
from tasks.celery import make_app
from tests.support.certificates import Pair, Signer
from tests.support.production import manage
from tests.support.secure_servers import PASSWORD, USER, AclRedis, TlsEnd


class World:
    """A Redis with a user, and an authority."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.signer = Signer(folder)
        self.server = AclRedis(folder, ledger=Ledger(folder / "stack.json"))
        self.password = folder / "password"
        self.password.write_text(PASSWORD, encoding="utf-8")

    def use(self, settings: Settings, port: int, client: Pair | None = None) -> None:
        """Let the process under test use the server behind a port."""
        for name, value in self.environment(port, client).items():
            setattr(settings, name, value)

    def environment(self, port: int, client: Pair | None = None) -> dict[str, str]:
        return {
            "LAKEWARDEN_REDIS_URL": f"rediss://{USER}@{LOOPBACK}:{port}/0",
            "LAKEWARDEN_REDIS_PASSWORD_FILE": str(self.password),
            "LAKEWARDEN_REDIS_CA": str(self.signer.file),
            "LAKEWARDEN_REDIS_CERT": str(client.certificate) if client else "",
            "LAKEWARDEN_REDIS_KEY": str(client.key) if client else "",
        }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("tls"))
    made.server.start()
    try:
        made.server.wait_ready()
        yield made
    finally:
        made.server.stop()


def test_messages_pass_and_a_deployment_is_clean(world: World, settings: Settings) -> None:
    with TlsEnd(world.server.port, world.signer.pair("server")) as end:
        world.use(settings, end.port)
        with make_app(settings.LAKEWARDEN_REDIS_URL).connection_for_write() as link:
            queue = link.SimpleQueue("tried")
            queue.put({"said": "hello"})
            message = queue.get(timeout=20)
            message.ack()
            assert message.payload == {"said": "hello"}
            queue.close()
        assert broker_check(databases=["default"]) == []
        done = manage(
            *("check", "--deploy", "--fail-level", "WARNING", "--database", "default"),
            var=world.folder,
            settings=world.environment(end.port),
        )
        assert done.returncode == 0, done.stderr


def test_a_client_certificate_is_shown_where_the_server_asks(
    world: World, settings: Settings
) -> None:
    pair = world.signer.pair("server")
    with TlsEnd(world.server.port, pair, authority=world.signer.file) as end:
        world.use(settings, end.port, world.signer.pair("client"))
        assert redis_client(timeout_seconds=20).ping()
        world.use(settings, end.port)
        (found,) = broker_check(databases=["default"])
        assert found.id == "portal.W010"


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("another authority", "not trusted. Name the certificate of that authority in LAKEWARDEN_"),
        ("expired", "its certificate has expired."),
        ("another host", "for another host name. Use a name of the certificate in LAKEWARDEN_RED"),
        ("plain", "it may speak no TLS at this port. Turn TLS on at the server"),
    ],
)
def test_what_does_not_hold_is_refused_in_plain_words(
    world: World, settings: Settings, case: str, words: str
) -> None:
    pairs = {
        "another authority": Signer(world.folder, "other").pair("foreign"),
        "expired": world.signer.pair("expired", days=-1),
        "another host": world.signer.pair("elsewhere", address="192.0.2.1"),
        "plain": world.signer.pair("server"),
    }
    with TlsEnd(world.server.port, pairs[case]) as end:
        port = world.server.port if case == "plain" else end.port
        world.use(settings, port)
        (found,) = broker_check(databases=["default"])
        assert words in found.msg
        assert f"Redis at {LOOPBACK}:{port}: " in found.msg
        assert PASSWORD not in found.msg


def test_a_changed_password_counts_for_the_next_connection(
    world: World, settings: Settings
) -> None:
    admin = redis.Redis.from_url(world.server.url)
    with TlsEnd(world.server.port, world.signer.pair("server")) as end:
        world.use(settings, end.port)
        app = make_app(settings.LAKEWARDEN_REDIS_URL)
        admin.acl_setuser(USER, enabled=True, passwords=["+second"])
        world.password.write_text("second", encoding="utf-8")
        try:
            admin.acl_setuser(USER, enabled=True, passwords=[f"-{PASSWORD}"])
            assert redis_client(timeout_seconds=20).ping()
            with app.connection_for_write() as link:
                link.ensure_connection(max_retries=1, timeout=20)
            world.password.write_text("wrong", encoding="utf-8")
            with (
                app.connection_for_write() as link,
                pytest.raises(OperationalError),
            ):
                link.ensure_connection(max_retries=1, timeout=20)
            world.password.unlink()
            with pytest.raises(ExternalFailure, match="LAKEWARDEN_REDIS_PASSWORD_FILE"):
                redis_client(timeout_seconds=20).ping()
        finally:
            world.password.write_text(PASSWORD, encoding="utf-8")
            admin.acl_setuser(USER, enabled=True, passwords=[f"+{PASSWORD}", "-second"])
