"""The portal's own servers for a bench: an empty database on MariaDB, and the site on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stack.ledger import Ledger
from stack.servers.mariadb import COLLATION, PORTAL, MariaDb
from stack.servers.portal import Site


@contextmanager
def empty_database(work: Path) -> Iterator[MariaDb]:
    """Run MariaDB below a folder while the block runs; the portal's database is there, empty."""
    database = MariaDb(work, ledger=Ledger(work / "ledger.json"))
    try:
        database.start()
        database.wait_ready()
        with database.connect(PORTAL) as link, link.cursor() as cursor:
            cursor.execute(f"drop database {PORTAL}")
            cursor.execute(f"create database {PORTAL} character set utf8mb4 collate {COLLATION}")
        yield database
    finally:
        database.stop()


def settings(work: Path, database: MariaDb) -> dict[str, str]:
    """Return the portal's environment; its lake is a name only, nothing of it is reached."""
    return {
        "DJANGO_SETTINGS_MODULE": "portal.settings.test",
        "LAKEWARDEN_VAR": str(work),
        "LAKEWARDEN_LAKES": str(work / "lakes.json"),
        "LAKEWARDEN_DB_URL": database.portal_url,
    }


@contextmanager
def site_on(database: MariaDb, work: Path) -> Iterator[str]:
    """Run the site on a filled database while the block runs; gives its address."""
    site = Site(work, ledger=database.ledger, settings=settings(work, database))
    try:
        site.start()
        site.wait_ready()
        yield site.url
    finally:
        site.stop()
