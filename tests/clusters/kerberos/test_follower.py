"""The follower of a secured metastore, as its unit starts it: it lives longer than its tickets."""

import json
import os
import sqlite3
import subprocess
import sys
import time
import uuid
from contextlib import closing
from pathlib import Path

from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import Metastore
from stack.kerberized_stack import KerberizedStack
from stack.places import REPO
from stack.servers.portal import Supervisor

_LIFE = 30
_WAIT_SECONDS = 100


def test_the_supervisor_follows_on_after_its_ticket_has_ended(
    secured: KerberizedStack, tmp_path: Path
) -> None:
    secured.kdc.administer(
        f"addprinc -randkey +requires_preauth -maxlife {_LIFE}s follower",
        f"ktadd -k {secured.kdc.keytab('follower')} follower",
    )
    lakes, portal = tmp_path / "lakes.json", tmp_path / "portal"
    portal.mkdir()
    entry = secured.config_of("follower").as_dict()
    lakes.write_text(json.dumps({entry.pop("lake"): entry}), encoding="utf-8")
    settings = {
        "DJANGO_SETTINGS_MODULE": "portal.settings.development",
        "LAKEWARDEN_VAR": str(portal),
        "LAKEWARDEN_LAKES": str(lakes),
    }
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"],
        cwd=REPO,
        env={**os.environ, **settings},
        check=True,
        timeout=300,
    )
    supervisor = Supervisor(secured.var, ledger=secured.ledger, settings=settings)
    try:
        supervisor.start()
        _wait_until_followed(secured, portal, supervisor)
        time.sleep(_LIFE + 2)
        _wait_until_followed(secured, portal, supervisor)
    finally:
        supervisor.stop()
    said = secured.kdc.process.said().splitlines()
    log_ins = [one for one in said if "AS_REQ" in one and "ISSUE" in one and "follower@" in one]
    assert len(log_ins) >= 2


def _wait_until_followed(secured: KerberizedStack, portal: Path, supervisor: Supervisor) -> None:
    """Make a database, and wait until the follower has taken its notification in."""
    config = secured.config()
    db = f"followed_{uuid.uuid4().hex[:8]}"
    with Metastore.connect(config) as metastore:
        metastore.create_database(
            ttypes.Database(
                name=db, description="", locationUri=str(config.path(f"/user/{db}")), parameters={}
            )
        )
        newest = metastore.current_notification_id()
    deadline = time.monotonic() + _WAIT_SECONDS
    while (position := _position(portal)) < newest:
        assert supervisor.process.is_alive(), supervisor.process.said()
        assert time.monotonic() < deadline, (position, newest, supervisor.process.said())
        time.sleep(0.5)


def _position(portal: Path) -> int:
    with closing(sqlite3.connect(portal / "portal.sqlite3", timeout=20)) as database:
        found = database.execute("SELECT MAX(position) FROM events_eventposition").fetchone()
    return int(found[0] or 0)
