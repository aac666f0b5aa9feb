"""Tests backup and restore of the portal's database on a real MariaDB that speaks TLS alone."""

import os
import subprocess
import sys
from pathlib import Path

from stack.ledger import Ledger
from stack.places import REPO
from stack.process import LOOPBACK
from tests.support.certificates import Signer
from tests.support.secure_servers import PASSWORD, USER, SecureMariaDb

CASES = "tests/integration/tasks/database/drill_cases.py"


def test_the_drill_holds_on_mariadb(tmp_path: Path) -> None:
    signer, password = Signer(tmp_path), tmp_path / "password"
    password.write_text(f"not-this-one\n{PASSWORD}\n", encoding="utf-8")
    ledger = Ledger(tmp_path / "stack.json")
    server = SecureMariaDb(tmp_path, ledger=ledger, authority=signer.file)
    server.present(signer.pair("server"))
    server.start()
    try:
        server.wait_ready()
        server.root("create database portal_try collate utf8mb4_nopad_bin")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--create-db", CASES],
            check=False,
            cwd=REPO,
            env={
                **os.environ,
                "LAKEWARDEN_DB_URL": f"mysql://{USER}@{LOOPBACK}:{server.port}/portal",
                "LAKEWARDEN_DB_PASSWORD_FILE": str(password),
                "LAKEWARDEN_DB_CA": str(signer.file),
            },
            capture_output=True,
            text=True,
            timeout=560,
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert "3 passed" in done.stdout
    finally:
        server.stop()
