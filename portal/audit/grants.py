"""Decides what the portal's two accounts of MariaDB may do: the owner, and that of the processes.

Derived from the models, so that no table is forgotten. The account of the processes can add to the
audit record and never change it. It moves the head of the chain, which a trigger lets only grow.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.apps import apps
from django.db.migrations.recorder import MigrationRecorder

from portal.audit.models import AuditEvent, AuditHead

ALL = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE"})
_EVENTS = AuditEvent._meta.db_table
_HEAD = AuditHead._meta.db_table
_EXCEPTIONS: Mapping[str, frozenset[str]] = {
    _EVENTS: frozenset({"SELECT", "INSERT"}),
    # Its only row is made by a migration. SELECT ... FOR UPDATE is content with these.
    _HEAD: frozenset({"SELECT", "UPDATE (`hash`, `seq`)"}),
    MigrationRecorder.Migration._meta.db_table: frozenset({"SELECT"}),
}
TRIGGERS = ("audit_event_no_update", "audit_event_no_delete", "audit_head_grows")
_GRANT = re.compile(r"GRANT (?P<rights>.+) ON (?P<on>\S+) TO .+")
_RIGHT = re.compile(r"([A-Z][A-Z ]*[A-Z])(?: ?\(([^)]*)\))?")


@dataclass(frozen=True, slots=True)
class Account:
    """An account of MariaDB; without a password it must be there already."""

    name: str
    host: str
    password: str = ""

    def __str__(self) -> str:
        return f"'{self.name}'@'{self.host}'"

    def creation(self) -> list[str]:
        """Return what creates it unless it is there; the password itself is not in it."""
        if not self.password:
            return []
        # What MariaDB keeps of a password; a program that sees it cannot log in with it.
        once = hashlib.sha1(self.password.encode(), usedforsecurity=False).digest()
        twice = hashlib.sha1(once, usedforsecurity=False).hexdigest().upper()
        return [f"CREATE USER IF NOT EXISTS {self} IDENTIFIED BY PASSWORD '*{twice}'"]


def rights_by_table() -> dict[str, frozenset[str]]:
    """Return what the account of the processes may do with each table of the portal."""
    models = apps.get_models(include_auto_created=True)
    tables = {model._meta.db_table for model in models if model._meta.managed}
    return {table: _EXCEPTIONS.get(table, ALL) for table in sorted(tables | _EXCEPTIONS.keys())}


def statements(database: str, *, owner: Account, app: Account) -> list[str]:
    """Return the statements, in order, that an administrator of the server runs after a migration.

    Run again they leave the same rights. In between, for less than a second, the account of the
    processes has none.
    """
    found = [*owner.creation(), *app.creation()]
    # In a grant on a database these two stand for other signs.
    exactly = database.replace("_", r"\_").replace("%", r"\%")
    found.append(f"GRANT ALL PRIVILEGES ON `{exactly}`.* TO {owner}")
    # A grant on the whole database would hold beside those on tables.
    found.append(f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {app}")
    for table, rights in rights_by_table().items():
        found.append(f"GRANT {', '.join(sorted(rights))} ON `{database}`.`{table}` TO {app}")
    return found + triggers(database, owner=owner)


def triggers(database: str, *, owner: Account) -> list[str]:
    """Return the triggers that stop everybody, the owner too, as long as they are there."""
    no = "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The audit record is only ever added to'"
    no_update, no_delete, grows = TRIGGERS
    start = f"CREATE OR REPLACE DEFINER = {owner} TRIGGER `{database}`"
    return [
        f"{start}.`{no_update}` BEFORE UPDATE ON `{database}`.`{_EVENTS}` FOR EACH ROW {no}",
        f"{start}.`{no_delete}` BEFORE DELETE ON `{database}`.`{_EVENTS}` FOR EACH ROW {no}",
        f"{start}.`{grows}` BEFORE UPDATE ON `{database}`.`{_HEAD}` FOR EACH ROW"
        f" IF NEW.seq < OLD.seq THEN {no}; END IF",
    ]


def script(found: Iterable[str]) -> str:
    """Return statements as a file for the client `mariadb`."""
    return "DELIMITER //\n" + "".join(f"{one}//\n" for one in found) + "DELIMITER ;\n"


def differences(database: str, shown: Iterable[str]) -> list[str]:
    """Say where the grants that a server shows of an account are not those of the processes."""
    wanted = {f"`{database}`.`{name}`": rights for name, rights in rights_by_table().items()}
    has: dict[str, set[str]] = {}
    for line in shown:
        match = _GRANT.match(line)
        if match is not None:
            has.setdefault(match["on"], set()).update(_rights(match["rights"]))
    found = []
    for place in sorted(wanted.keys() | has.keys()):
        own = has.get(place, set()) - {"USAGE"}
        asked = wanted.get(place, frozenset())
        found += [f"It may {right} on {place}, and must not." for right in sorted(own - asked)]
        found += [f"It may not {right} on {place}." for right in sorted(asked - own)]
    return found


def _rights(text: str) -> set[str]:
    found = set()
    for word, columns in _RIGHT.findall(text):
        names = sorted(part.strip() for part in columns.split(","))
        found.add(f"{word} ({', '.join(names)})" if columns else word)
    return found
