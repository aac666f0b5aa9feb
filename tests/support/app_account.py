"""The portal's two accounts on a MariaDB of tests, with what `database_grants` says of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pymysql
from django.db import connections

from portal.audit.grants import TRIGGERS, Account, statements, triggers

PASSWORD = "narrow password"
HOSTS = ("%", "localhost")
"""An account of nobody on localhost would go before one of any host."""


def owner(host: str = "%") -> Account:
    return Account("lw_test_owner", host, PASSWORD)


def app(host: str = "%") -> Account:
    return Account("lw_test_app", host, PASSWORD)


@contextmanager
def root() -> Iterator["pymysql.cursors.Cursor"]:
    """A cursor of the server's administrator, by its socket."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT @@socket")
        (place,) = cursor.fetchone()
    link = pymysql.connect(unix_socket=place, user="root", autocommit=True)
    with link, link.cursor() as cursor:
        yield cursor


def accounts_make(database: str) -> None:
    """Create both accounts with what `manage.py database_grants` says of them."""
    with root() as cursor:
        for host in HOSTS:
            for statement in statements(database, owner=owner(host), app=app(host)):
                cursor.execute(statement)


def triggers_make(database: str) -> None:
    """Create what stops everybody from changing the audit record."""
    with root() as cursor:
        for statement in triggers(database, owner=owner()):
            cursor.execute(statement)


def triggers_drop(database: str) -> None:
    """Let rows of the audit record go again."""
    with root() as cursor:
        for trigger in TRIGGERS:
            cursor.execute(f"DROP TRIGGER IF EXISTS `{database}`.`{trigger}`")


def accounts_drop(database: str) -> None:
    """Remove the accounts and the triggers that they own."""
    triggers_drop(database)
    with root() as cursor:
        for host in HOSTS:
            for account in (owner(host), app(host)):
                cursor.execute(f"DROP USER IF EXISTS {account}")


@contextmanager
def signed_in_as(account: Account) -> Iterator[None]:
    """Have every connection of this process be the account's, those of new threads too."""
    said: dict[str, Any] = connections.settings["default"]
    before = {key: said[key] for key in ("USER", "PASSWORD")}
    connections["default"].close()
    said.update({"USER": account.name, "PASSWORD": account.password})
    try:
        yield
    finally:
        connections["default"].close()
        said.update(before)
