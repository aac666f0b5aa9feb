"""A query narrowed from the command line and from a program, by an API token."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.db import connection
from django.utils import timezone
from lakewarden_cli import prune
from lakewarden_cli.errors import CliError, NotYetError, SignInError
from lakewarden_cli.main import main
from pytest_django.live_server_helper import LiveServer

from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from portal.runs.domain import RunState
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.optimizer.pruning.test_prune_pages import PLANNED, SQL

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("lake")]
DONE = {"sql": "SELECT narrowed", "tables": [PLANNED]}


@pytest.fixture
def token(people: People) -> str:
    iceberg("clicks", now=timezone.now(), owner=people.owner.username)
    return token_of(people, "prune")


def token_of(people: People, scope: str) -> str:
    moment = timezone.now() - timedelta(seconds=1)
    wish = TokenParams(f"for {scope}", (scope,), 9)
    return token_make(people.owner.username, wish, user=people.owner, now=moment).secret


class Cluster(threading.Thread):
    """Ends the run of a query as a cluster would, as soon as there is one."""

    def __init__(self, state: RunState, *, error: dict[str, str] | None = None) -> None:
        super().__init__(daemon=True)
        self.state, self.error = state, error

    def run(self) -> None:
        for _ in range(200):
            for run in Run.objects.filter(kind="optimizer.prune", state=RunState.QUEUED):
                run.state, run.finished_at = self.state, timezone.now()
                run.result = DONE if self.state == RunState.DONE else None
                run.error = self.error
                run.save()
                connection.close()
                return
            time.sleep(0.05)
        connection.close()


@pytest.fixture
def done() -> Iterator[None]:
    cluster = Cluster(RunState.DONE)
    cluster.start()
    yield
    cluster.join()


def test_a_program_gets_the_narrowed_query(token: str, done: None, live_server: LiveServer) -> None:
    found = prune(SQL, server=live_server.url + "/", token=token, catalog="lake")
    assert found.sql == "SELECT narrowed"
    assert found.is_narrowed
    assert found.tables[0]["n_kept"] == 2


def test_the_command_prints_the_query_and_says_the_rest_beside_it(
    token: str, done: None, live_server: LiveServer, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(token, encoding="utf-8")
    words = ["--url", live_server.url, "--token-file", str(tmp_path / "token"), "prune"]
    printed = CliRunner().invoke(main, words, input=SQL)
    assert printed.exit_code == 0, printed.output
    assert printed.stdout == "SELECT narrowed\n"
    assert "-- shop.clicks clicks: 2 of 100 files, 20 B of 1000 B" in printed.stderr


def test_what_goes_wrong_is_an_error_that_says_so(
    token: str, people: People, live_server: LiveServer
) -> None:
    with pytest.raises(CliError, match="Give one SELECT"):
        prune("DELETE FROM shop.clicks", server=live_server.url, token=token)
    with pytest.raises(CliError, match="no column that says which data file"):
        prune(SQL, "starrocks", server=live_server.url, token=token)
    with pytest.raises(SignInError):
        prune(SQL, server=live_server.url, token="wrong")
    with pytest.raises(CliError, match="Make one with the scope 'prune'"):
        prune(SQL, server=live_server.url, token=token_of(people, "refresh"))
    with pytest.raises(NotYetError, match="its run is"):
        prune(SQL, server=live_server.url, token=token, timeout=0)
    Run.objects.all().delete()
    cluster = Cluster(RunState.FAILED, error={"message": "The table is gone."})
    cluster.start()
    with pytest.raises(CliError, match=r"not narrowed\. The table is gone"):
        prune(SQL, server=live_server.url, token=token)
    cluster.join()
