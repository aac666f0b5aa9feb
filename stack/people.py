"""Who lives in the demo's company: owners of data, database administrators, admins, an operator."""

import json
from pathlib import Path
from typing import Any

OWNERS = {
    "alice": "Alice Arden",
    "bob": "Bob Berger",
    "carol": "Carol Cole",
    "dave": "Dave Dorn",
    "erin": "Erin Eklund",
}
DATABASE_ADMINISTRATORS = {
    "sales": ("dora",),
    "web": ("dora", "frank"),
    "risk": ("frank",),
    "finance": ("dora",),
    # Its tables are the capture's own, so that nobody else of the owners would see them.
    "shop": ("alice",),
}
ADMINS = {"ada": "Ada Ames", "ben": "Ben Bosch", "cleo": "Cleo Conti"}
OPERATORS = {"otto": "Otto Oster"}
_OTHERS = {"dora": "Dora Dahl", "frank": "Frank Fuchs"}

# Throw-away log-ins of a server that listens on loopback; printed by the demo.
DEMO_PASSWORD = "lake-demo-2026"  # noqa: S105  (public by purpose, see above)


def directory() -> dict[str, Any]:
    """Return the company directory in the form of directory.json."""
    everybody = {**OWNERS, **_OTHERS, **ADMINS, **OPERATORS}
    return {
        "people": {
            username: {"name": name, "email": f"{username}@example.com"}
            for username, name in everybody.items()
        },
        "database_administrators": {
            db: list(names) for db, names in DATABASE_ADMINISTRATORS.items()
        },
    }


def log_ins() -> list[dict[str, Any]]:
    """Return everybody's log-in in the form that `manage.py create_people` reads."""
    return [
        {
            "username": username,
            "password": DEMO_PASSWORD,
            "email": entry["email"],
            "name": entry["name"],
            "roles": (["admin"] if username in ADMINS else [])
            + (["operator"] if username in OPERATORS else []),
        }
        for username, entry in directory()["people"].items()
    ]


def write_directory(path: Path) -> None:
    """Write directory.json."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(directory(), indent=2), encoding="utf-8")
