"""The command line installed alone by pip, and the example DAG run by a real Airflow."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from portal.connectors.lake_config import LakeConfig
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from refresh.models import ChangedPartition
from tests.component.conftest import People, lake, people
from tests.component.quality.hook_world import HookLake, metastore_of
from tests.component.refresh.freshness.test_refresh_client_live import refresh_everywhere
from tests.component.refresh.refresh_rows import cluster

__all__ = ["lake", "people"]  # fixtures of the component tests

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]
UV = (sys.executable, "-m", "uv")
AIRFLOW = ("apache-airflow-core==3.1.8", "apache-airflow-providers-standard")
DAY = "2026-11-21"


def installed(folder: Path, *wanted: str) -> Path:
    """Return the programs of a virtual environment of its own with these packages."""
    subprocess.run([*UV, "venv", "-q", str(folder)], check=True, timeout=120)
    python = folder / "bin" / "python"
    install = [*UV, "pip", "install", "-q", "--python", str(python), *wanted]
    subprocess.run(install, check=True, timeout=600)
    return folder / "bin"


@pytest.fixture
def hive(lake: LakeConfig, tmp_path: Path, settings: Settings) -> Iterator[HookLake]:
    with metastore_of(lake, tmp_path, Path(settings.LAKEWARDEN_LAKES)) as served:
        yield served


@pytest.fixture
def refreshed() -> Iterator[None]:
    """What a worker does: refresh whatever was reported."""
    over = Event()

    def work() -> None:
        while not over.wait(0.5):
            if ChangedPartition.objects.exists():
                refresh_everywhere()
                break
        connection.close()

    worker = Thread(target=work)
    worker.start()
    yield
    over.set()
    worker.join()


@pytest.fixture
def token(people: People, tmp_path: Path) -> Path:
    wish = TokenParams("airflow", ("refresh", "readiness"), 9)
    file = tmp_path / "token"
    file.write_text(token_make("olga", wish, user=people.owner, now=timezone.now()).secret)
    return file


@pytest.mark.long
def test_the_example_dag_runs_in_airflow_with_the_command_line_from_pip(
    hive: HookLake, token: Path, live_server: LiveServer, refreshed: None, tmp_path: Path
) -> None:
    cluster()
    programs = installed(tmp_path / "venv", str(ROOT / "cli"), *AIRFLOW)
    bare = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    portal = {"LAKEWARDEN_URL": live_server.url, "LAKEWARDEN_TOKEN_FILE": str(token)}
    airflow = {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "cli" / "examples"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            env=bare | portal | airflow,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    assert run("lakewarden", "--version").returncode == 0
    assert run("airflow", "db", "migrate").returncode == 0
    done = run("airflow", "dags", "test", "rebuild_a_day", DAY)
    assert done.returncode == 0, done.stderr[-3000:]
    said = done.stdout + done.stderr
    assert "Visible" in said, said[-3000:]
    assert not ChangedPartition.objects.exclude(name__contains=DAY).exists()
