"""Tests backup and restore of the portal's database on a real MariaDB that speaks TLS alone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.ledger import Ledger
from stack.places import REPO
from stack.process import LOOPBACK
from tests.support.certificates import Signer
from tests.support.secure_servers import PASSWORD, USER, SecureMariaDb

CASES = Path("tests/integration/tasks/database")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Give the settings of a server that runs, with a scratch database beside the portal's."""
    folder = tmp_path_factory.mktemp("mariadb")
    signer, password = Signer(folder), folder / "password"
    password.write_text(f"not-this-one\n{PASSWORD}\n", encoding="utf-8")
    ledger = Ledger(folder / "stack.json")
    server = SecureMariaDb(folder, ledger=ledger, authority=signer.file)
    server.present(signer.pair("server"))
    server.start()
    try:
        server.wait_ready()
        server.root("create database portal_try collate utf8mb4_nopad_bin")
        yield {
            **os.environ,
            "LAKEWARDEN_DB_URL": f"mysql://{USER}@{LOOPBACK}:{server.port}/portal",
            "LAKEWARDEN_DB_PASSWORD_FILE": str(password),
            "LAKEWARDEN_DB_CA": str(signer.file),
        }
    finally:
        server.stop()


@pytest.mark.parametrize(("cases", "n"), [("drill_cases.py", 3), ("restored_cases.py", 10)])
def test_it_holds_on_mariadb(environment: dict[str, str], cases: str, n: int) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--create-db"),
            str(CASES / cases),
        ],
        check=False,
        cwd=REPO,
        env=environment,
        capture_output=True,
        text=True,
        timeout=560,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert f"{n} passed" in done.stdout
