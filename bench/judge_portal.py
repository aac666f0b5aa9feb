"""Gives what the portal says of a scanned lake: API, CSV files and the numbers on its pages.

A portal with a database of its own ingests a scan through the product's own services. Answers are
read as a person's browser or program gets them, through Django's test client.
"""

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

LAKE = "main"
ADMIN, DBA, BEHIND = "ada", "dora", "zara"
ACCOUNT = "zoe"
"""An owner in the metastore who is no person; `BEHIND` answers for what it owns."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Reader:
    """Who reads, and what that person may see."""

    name: str
    is_keeper: bool = False
    accounts: frozenset[str] = frozenset()
    databases: frozenset[str] = frozenset()

    def sees(self, db: str, *owners: str) -> bool:
        """Whether something in a database, of these owners, is shown to the person."""
        is_own = bool((self.accounts | {self.name}) & set(owners))
        return self.is_keeper or db in self.databases or is_own


class Portal:
    """A portal over one lake, with its people."""

    def __init__(self, work: Path, lakes: Path) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self._directory = work / "directory.json"
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "portal.settings.test",
            "LAKEWARDEN_VAR": str(work),
            "LAKEWARDEN_LAKES": str(lakes),
            "LAKEWARDEN_DIRECTORY": str(self._directory),
            "LAKEWARDEN_DB_URL": "",  # SQLite below LAKEWARDEN_VAR
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)

    def people(self, owners: tuple[str, ...]) -> None:
        """Make the people, and say who answers for the account."""
        from django.utils import timezone

        from portal.access.models import OwnerMapping
        from portal.access.services import person_create

        for name in (*owners, DBA, BEHIND):
            person_create(name, password=uuid4().hex, email="", roles=())
        person_create(ADMIN, password=uuid4().hex, email="", roles=("admin",))
        OwnerMapping.objects.create(
            lake=LAKE, owner=ACCOUNT, username=BEHIND, added_by=ADMIN, added_at=timezone.now()
        )

    def ingest(
        self, scanned: Any, *, now: Any, modes: Mapping[str, str], administered: list[str]
    ) -> None:
        """Set modes and administrators, then take a scan in as its own run does."""
        from lifecycle.inventory.services.scan import KIND
        from lifecycle.schedule.run_kinds.scan import ScanKind
        from portal.runs.models import Run

        names = {db: [DBA] for db in administered}
        self._directory.write_text(
            json.dumps({"people": {}, "database_administrators": names}), encoding="utf-8"
        )
        for db, mode in modes.items():
            self._move(db, mode, now=now)
        run = Run.objects.create(
            lake=LAKE,
            kind=KIND,
            queue="scan",
            state="SETTLING",
            requested_by="judge",
            params={"now": now.isoformat()},
            spool=str(scanned.spool.root),
            queued_at=now,
        )
        ScanKind().ingest(run, scanned.manifest)
        Run.objects.filter(pk=run.pk).update(state="DONE", finished_at=now)

    def _move(self, db: str, wanted: str, *, now: Any) -> None:
        from lifecycle.core.domain.modes import DatabaseMode
        from lifecycle.databases.services.modes import ModeChange, database_mode_change
        from portal.access.models import User

        user = User.objects.get(username=ADMIN)
        steps = [DatabaseMode.OBSERVE, DatabaseMode.NOTIFY, DatabaseMode.ACT]
        for seen, mode in pairwise(steps):
            if steps.index(mode) <= steps.index(DatabaseMode(wanted)):
                change = ModeChange(LAKE, db, seen, mode, "judged")
                database_mode_change(change, user=user, now=now)

    def session(self, name: str) -> "Session":
        """Sign a person in."""
        from django.test import Client

        from portal.access.models import User

        client = Client()
        client.force_login(User.objects.get(username=name))
        return Session(client)


class Session:
    """One signed-in person's answers."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def get(self, path: str, **query: str) -> Any:
        """Return an answer of the API, or of a page as text."""
        answer = self._client.get(path, {"lake": LAKE, **query})
        return _good(answer, path)

    def listed(self, path: str, **query: str) -> list[Row]:
        """Return every row of an API list, page by page."""
        found: list[Row] = []
        page = self.get(f"/api/v1/lifecycle/{path}", **query).json()
        while True:
            found += page["results"]
            if page["next"] is None:
                return found
            page = _good(self._client.get(page["next"]), path).json()

    def csv(self, path: str, **query: str) -> list[dict[str, str]]:
        """Return every line of a list's CSV."""
        answer = self.get(f"/lifecycle/{path}", format="csv", **query)
        text = b"".join(answer.streaming_content).decode("utf-8")
        answer.close()
        return list(csv.DictReader(io.StringIO(text)))

    def tiles(self, path: str) -> dict[str, tuple[str, str]]:
        """Return value and note of each number that stands on a page, by its label."""
        reader = _Tiles()
        reader.feed(self.get(path).content.decode("utf-8"))
        return {one["label"]: (one["value"], one["note"]) for one in reader.found}


def _good(answer: Any, path: str) -> Any:
    if answer.status_code != 200:
        raise SystemExit(f"{path} answers {answer.status_code}.")
    return answer


class _Tiles(HTMLParser):
    """Collects numbers and what waits, with the exact bytes where the page carries them."""

    _PARTS = {
        **{f"lw-stat-{part}": part for part in ("label", "value", "note")},
        "lw-waiting-title": "label",
        "lw-waiting-value": "value",
        "lw-waiting-detail": "note",
    }

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []
        self._part = ""
        self._is_exact = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        part = self._PARTS.get(said.get("class") or "", "")
        if part == "label":
            self.found.append({"label": "", "value": "", "note": ""})
        if part:
            self._part, self._is_exact = part, False
        elif tag == "data" and self._part == "value":
            self.found[-1]["value"] = said.get("value") or ""
            self._is_exact = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("span", "a"):
            self._part = ""

    def handle_data(self, data: str) -> None:
        if self._part and not self._is_exact:
            self.found[-1][self._part] += data.strip()


def numbers_in(text: str) -> Iterator[int]:
    """Yield the whole numbers of a text."""
    digits = "".join(sign if sign.isdigit() or sign == "," else " " for sign in text)
    yield from (int(one.replace(",", "")) for one in digits.split() if one.strip(","))
