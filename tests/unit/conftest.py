"""What every unit test stands on: sockets are refused, hypothesis has no deadline."""

import socket
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings

for name, n_examples in (("unit", 60), ("quick", 20)):
    settings.register_profile(
        name,
        deadline=timedelta(seconds=5),
        max_examples=n_examples,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
# What pytest is told by --hypothesis-profile comes after this and counts.
settings.load_profile("unit")


@pytest.fixture(autouse=True)
def _no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make any attempt to open a connection fail the test that makes it."""

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a unit test tried to open a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "bind", refuse)
