"""Who people are: names, mail addresses, and who administers a database.

This deployment's directory is a JSON file; a company's LDAP would stand behind the same class.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from portal.lake.errors import ExternalFailure


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the portal can write to."""

    username: str
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Directory:
    """People by user name, and the administrators of databases."""

    people: dict[str, Person]
    administrators: dict[str, tuple[str, ...]]

    @classmethod
    def load(cls, path: Path) -> "Directory":
        """Read directory.json."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            people = {
                username: Person(username, entry["name"], entry["email"])
                for username, entry in data.get("people", {}).items()
            }
            administrators = {
                db: tuple(names) for db, names in data.get("database_administrators", {}).items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ExternalFailure(
                "directory.unreadable",
                f"The directory of people, {path}, cannot be read: {error!r}.",
                service="directory",
                retryable=False,
            ) from error
        return cls(people, administrators)

    def person(self, username: str) -> Person | None:
        """Return the person of this user name, or None for an owner who is no user."""
        return self.people.get(username)

    def database_administrators(self, db: str) -> tuple[str, ...]:
        """Return the user names that administer a database (may be none)."""
        return self.administrators.get(db, ())


def directory_read(path: Path) -> Directory:
    """Read directory.json; a deployment without one has no people in it."""
    return Directory.load(path) if path.exists() else Directory({}, {})
