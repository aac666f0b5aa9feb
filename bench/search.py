"""Measures how long the search takes at 50,000 tables, on SQLite and on MariaDB.

    python -m bench.search [--tables 50000] [--rounds 5]

The names are those of a company's lake: a layer, a subject, a thing, now and then a year or a
number, and some in Chinese. They are written into the catalog and indexed by the product's tick.
Then names of tables picked by chance are searched: whole words, beginnings, two words, a database
with a dot, a typo, words without their separators, single letters; for an admin, for an owner of a
fiftieth of the lake and for somebody who sees nothing. Every search but the last two kinds must
find its table, or it counts as missed. Figures are in bench/README.md.
"""

import argparse
import json
import os
import random
import resource
import shutil
import string
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from bench.portal_server import empty_database

if TYPE_CHECKING:
    from portal.access.models import User

LAKE, SHOWN = "main", 8
NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
LAYERS = ["raw", "stg", "dwd", "dws", "ads", "dim", "fact", "tmp", "snap", "hist"]
_SUBJECTS = """
sales orders customer payment invoice clicks session inventory shipping warehouse product price
campaign supplier contract employee budget ledger account device sensor telemetry weather fleet
vehicle driver ticket support complaint refund coupon loyalty segment audience ad impression
conversion funnel retention churn forecast planning procurement quality defect machine maintenance
energy carbon compliance risk fraud identity consent audit access error latency
"""
_THINGS = """
live daily hourly monthly detail summary agg full delta events items lines header status history
current latest log metrics report export mapping lookup score feature label train predict archive
backup clean dedup enriched joined sample check
"""
SUBJECTS, THINGS = _SUBJECTS.split(), _THINGS.split()
CHINESE = ["销售数据", "订单明细", "用户行为", "库存快照", "支付流水"]


def names(n_tables: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield distinct names of tables, with their databases."""
    made: set[tuple[str, str]] = set()
    while len(made) < n_tables:
        subject = chance.choice(SUBJECTS)
        db = f"{subject}_{chance.choice(LAYERS)}" if chance.random() < 0.7 else subject
        parts = [chance.choice(LAYERS), chance.choice(SUBJECTS), chance.choice(THINGS)]
        if chance.random() < 0.5:
            parts.append(chance.choice(THINGS))
        if chance.random() < 0.3:
            parts.append(str(chance.randint(1, 400)))
        if chance.random() < 0.2:
            parts.append("".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 9))))
        if chance.random() < 0.02:
            parts[1] = chance.choice(CHINESE)
        name = (db, "_".join(parts))
        if name not in made:
            made.add(name)
            yield name


def typo(word: str, chance: random.Random) -> str:
    """Return a word with one letter missing, wrong, too much, or two swapped."""
    at = chance.randrange(len(word) - 1)
    return chance.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + chance.choice(string.ascii_lowercase) + word[at + 1 :],
            word[:at] + chance.choice(string.ascii_lowercase) + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        ]
    )


def asked(db: str, name: str, chance: random.Random) -> dict[str, str]:
    """Return a text of each kind that means a table."""
    words = name.split("_")
    subject = words[1]
    texts = {
        "whole name": name,
        "database.table": f"{db}.{name}",
        "two words": f"{words[1]} {words[2]}",
        "beginning": subject[:3],
        "one word": subject,
        "database and beginning": f"{db.split('_', maxsplit=1)[0]}.{name[:6]}",
        "one letter": name[0],
        "nothing like it": "".join(chance.choices(string.ascii_lowercase, k=10)),
    }
    if subject.isascii() and len(subject) > 4:
        wrong = typo(subject, chance)
        texts["typo"] = wrong
        texts["typo, whole name"] = "_".join([words[0], wrong, *words[2:]])
        texts["no separators"] = subject + words[2]
    return texts


def fill(n_tables: int, chance: random.Random) -> list[tuple[str, str]]:
    """Write the catalog and index it; return its names."""
    from portal.catalog.models import Table
    from portal.search.models import DatabaseWord, TableWord, Word, WordKey
    from portal.search.services.index import index_catch_up

    made = list(names(n_tables, chance))
    rows = [
        Table(
            lake=LAKE, db=db, name=name, format="hive", owner=f"person{at % 50}", event_id=1,
            first_seen_at=NOW, last_seen_at=NOW,
        )
        for at, (db, name) in enumerate(made)
    ]  # fmt: skip
    Table.objects.bulk_create(rows, batch_size=2_000)
    began = time.perf_counter()
    index_catch_up(LAKE, now=NOW)
    indexed = time.perf_counter() - began
    began = time.perf_counter()
    index_catch_up(LAKE, now=NOW)
    again = time.perf_counter() - began
    counts = {
        model.__name__: model.objects.count() for model in (Word, WordKey, TableWord, DatabaseWord)
    }
    print(json.dumps({"index s": indexed, "a turn with nothing new s": again, **counts}))
    return made


def people() -> "list[tuple[str, User]]":
    """Return who searches."""
    from portal.access.services import person_create

    secret = uuid4().hex
    return [
        ("admin", person_create("ada", password=secret, email="a@example.org", roles=["admin"])),
        ("owner", person_create("person7", password=secret, email="o@example.org", roles=[])),
        ("stranger", person_create("stan", password=secret, email="s@example.org", roles=[])),
    ]


def measure(made: list[tuple[str, str]], rounds: int, chance: random.Random) -> None:
    """Search, and print the figures by kind of text and by person."""
    from portal.search.selectors.everything import search
    from portal.search.selectors.tables import tables_found

    seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    missed: defaultdict[str, int] = defaultdict(int)
    whole: list[float] = []
    searchers = people()
    for at in range(rounds):
        owned = made[(at * 50 + 7) % len(made)]
        for who, user in searchers:
            db, name = owned if who == "owner" else chance.choice(made)
            for kind, text in asked(db, name, chance).items():
                began = time.perf_counter()
                found = tables_found(user, LAKE, text, SHOWN)
                seconds[kind, who].append(time.perf_counter() - began)
                whole_name = kind in ("whole name", "database.table", "typo, whole name")
                if who == "admin" and whole_name and name not in [row.name for row in found]:
                    missed[kind] += 1
                began = time.perf_counter()
                search(user, LAKE, text, limit=SHOWN)
                whole.append(time.perf_counter() - began)
    for (kind, who), some in sorted(seconds.items()):
        print(f"{kind:24}{who:10}{line(some)}")
    print(f"{'all tables':34}{line([one for some in seconds.values() for one in some])}")
    print(f"{'all sources':34}{line(whole)}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"load {os.getloadavg()[0]:.1f}, missed {dict(missed)}, peak {peak:,} kB")


def line(seconds: list[float]) -> str:
    """Return the median, the 95th percentile and the worst in milliseconds."""
    ordered = sorted(seconds)
    p50, p95 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"p50 {p50 * 1e3:7.1f}  p95 {p95 * 1e3:7.1f}  max {ordered[-1] * 1e3:7.1f} ms"


def run(url: str, n_tables: int, rounds: int) -> None:
    """Fill one database and measure in a process of its own: Django takes one setting."""
    import django

    os.environ |= {"LAKEWARDEN_DB_URL": url, "DJANGO_SETTINGS_MODULE": "portal.settings.test"}
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    chance = random.Random(7)
    measure(fill(n_tables, chance), rounds, chance)


def main() -> None:
    """Measure on both databases."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--work", type=Path, default=Path("var/bench-search"))
    parser.add_argument("--only", choices=["sqlite", "mariadb"])
    options = parser.parse_args()
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if options.only != "mariadb":
        print("SQLite", flush=True)
        apart(f"sqlite://{work / 'portal.sqlite3'}", options.tables, options.rounds)
    if options.only != "sqlite":
        print("MariaDB", flush=True)
        with empty_database(work) as database:
            apart(database.portal_url, options.tables, options.rounds)


def apart(url: str, n_tables: int, rounds: int) -> None:
    """Run in a child process."""
    child = os.fork()
    if child == 0:
        try:
            run(url, n_tables, rounds)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
