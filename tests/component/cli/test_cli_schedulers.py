"""The command line as a scheduler uses it: an API token, exit codes, waiting until it is fresh."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from django.utils import timezone
from lakewarden_cli.main import main
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from portal.connectors.lake_config import LakeConfig
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from refresh.models import ChangedPartition
from tests.component.conftest import People
from tests.component.quality.hook_world import LEAVES, HookLake, metastore_of
from tests.component.refresh.freshness.test_refresh_client_live import refresh_everywhere
from tests.component.refresh.refresh_rows import cluster

pytestmark = pytest.mark.django_db(transaction=True)
Cli = Callable[..., Result]


@pytest.fixture
def hive(lake: LakeConfig, tmp_path: Path, settings: Settings) -> Iterator[HookLake]:
    with metastore_of(lake, tmp_path, Path(settings.LAKEWARDEN_LAKES)) as served:
        yield served


@pytest.fixture
def cli(hive: HookLake, people: People, live_server: LiveServer, tmp_path: Path) -> Cli:
    wish = TokenParams("nightly job", ("refresh", "readiness"), 9)
    token = tmp_path / "token"
    made = token_make("olga", wish, user=people.owner, now=timezone.now() - timedelta(seconds=1))
    token.write_text(made.secret, encoding="utf-8")
    environment = {
        "LAKEWARDEN_CONFIG_DIR": str(tmp_path / "config"),
        "LAKEWARDEN_URL": live_server.url,
        "LAKEWARDEN_TOKEN_FILE": str(token),
    }

    def call(*words: str) -> Result:
        return CliRunner().invoke(main, words, env=environment)

    return call


def test_a_job_reports_and_waits_until_it_is_visible(cli: Cli) -> None:
    cluster()
    day = ("--partition", "dt=2026-11-21")
    told = cli("report", "shop.sales", *day)
    assert told.exit_code == 0, told.output
    assert set(ChangedPartition.objects.values_list("name", flat=True)) == set(LEAVES[:2])
    written_at = told.stdout.split("--written-at ")[1].strip()
    early = cli("wait-fresh", "shop.sales", *day, "--written-at", written_at, "--timeout", "0")
    assert (early.exit_code, "not visible everywhere" in early.stderr) == (3, True)
    refresh_everywhere()
    seen = cli("wait-fresh", "shop.sales", *day, "--written-at", written_at, "--timeout", "5")
    assert (seen.exit_code, "Visible" in seen.stdout) == (0, True), seen.output


def test_a_lenient_wait_goes_on_and_names_who_lags(cli: Cli) -> None:
    cluster()
    late = cli("wait-fresh", "shop.sales", "--timeout", "0", "--lenient")
    assert (late.exit_code, "Not visible yet" in late.stdout) == (0, True), late.output


def test_a_table_that_no_cluster_shows_needs_no_wait(cli: Cli) -> None:
    assert cli("wait-fresh", "shop.sales", "--timeout", "0").exit_code == 0


def test_the_ready_flag_is_set(cli: Cli) -> None:
    done = cli("ready", "shop.sales", "--partition", "dt=2026-11-21")
    assert done.exit_code == 0, done.output
    assert cli("ready", "shop.sales").exit_code == 2


def test_a_token_file_that_is_missing_or_wrong_ends_with_77(cli: Cli, tmp_path: Path) -> None:
    gone = cli("--token-file", str(tmp_path / "gone"), "report", "shop.sales")
    assert (gone.exit_code, "cannot be read" in gone.stderr) == (77, True)
    (tmp_path / "wrong").write_text("wrong", encoding="utf-8")
    wrong = cli("--token-file", str(tmp_path / "wrong"), "report", "shop.sales")
    assert wrong.exit_code == 77
