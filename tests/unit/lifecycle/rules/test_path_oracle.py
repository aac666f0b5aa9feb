"""The seven path reasons equal a plain reading of all pairs, on 10,000 random lakes.

The oracle and its lakes import nothing of the product. Eleven mistakes planted in the rules, each
a likely one, must all be caught by the same lakes.
"""

import importlib.util
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lifecycle.core.domain import nesting
from lifecycle.rules.domain import conformity, templates
from lifecycle.rules.domain.templates import Template
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath
from tests.support.path_oracle import Judged, Lake
from tests.support.path_oracle import judge as oracle
from tests.support.random_paths import random_lake

N_LAKES = 10_000
N_FOR_MUTANTS = 1_500
SEED = 20_261_122
TODAY = date(2026, 11, 22)


def lakes(n: int) -> Iterator[Lake]:
    """Yield the same random lakes every time."""
    rng = random.Random(SEED)
    for _ in range(n):
        yield random_lake(rng)


def read(text: str, lake: Lake) -> LakePath | None:
    try:
        return LakePath.parse(text, default_fs=lake.default_fs, aliases=lake.aliases)
    except RuleViolation:
        return None


def judged_by(rules: ModuleType, lake: Lake, parse: Callable[..., Any] = Template.parse) -> Judged:
    """Give what the product's rules (or a mutant of them) say of a lake, as the scan asks them."""
    databases = [
        rules.DatabaseFacts(db.name, db.owner, read(db.location, lake)) for db in lake.databases
    ]
    tables = [
        rules.TableFacts(one.db, one.name, one.owner, read(one.location, lake), one.is_view)
        for one in lake.tables
    ]
    places = [
        parse(text, pattern=pattern, default_fs=lake.default_fs, aliases=lake.aliases)
        for pattern, text in lake.templates
    ]
    found = rules.judge(databases, tables, templates=places, today=TODAY)
    said = {
        (one.db, one.table, "", str(reason))
        for one in (*found.databases.values(), *found.tables.values())
        for reason in one.reasons
    }
    return said | set(_partitions(rules, lake))


def _partitions(rules: ModuleType, lake: Lake) -> Iterator[tuple[str, str, str, str]]:
    for table in lake.tables:
        here = read(table.location, lake)
        for name, location in () if table.is_view else table.partitions:
            place = read(location, lake)
            if place is None or here is None or not rules.partition_conforms(place, here):
                yield table.db, table.name, name, "PART_PATH_NOT_IN_TBL"


def test_the_rules_equal_all_pairs_on_ten_thousand_lakes() -> None:
    seen: Counter[str] = Counter()
    for number, lake in enumerate(lakes(N_LAKES)):
        expected = oracle(lake)
        assert judged_by(conformity, lake) == expected, (number, lake)
        seen.update({reason for *_, reason in expected})
    assert set(seen) == {reason.value for reason in conformity.Reason}
    rare = {reason: n for reason, n in seen.items() if n < N_LAKES * 0.05}
    assert not rare, f"in fewer than 5 % of the lakes, so hardly tested: {rare}"


# Each: what it is, where, the words that stand there, and those put in their place.
MUTANTS = {
    "/a/bc is under /a/b": (
        nesting, "key[:-1] + _AFTER_SLASH", "key[:-1] + chr(0x10FFFF)",
    ),
    "two servers are one": (nesting, "text = str(path)", "text = path.path"),
    "a table counts itself": (nesting, "own_end - own_start - 1", "own_end - own_start"),
    "a place may be its own parent": (
        conformity, "return location != parent and location", "return location",
    ),
    "views are somewhere": (
        conformity, "[table for table in every_table if not table.is_view]", "every_table",
    ),
    "a guest spoils the whole database": (
        conformity,
        "Reason.HAS_OTHER_DB, Reason.OWNER_PATH_FAIL, Reason.DB_PATH_FAIL}",
        "Reason.HAS_OTHER_DB, Reason.OWNER_PATH_FAIL, Reason.DB_PATH_FAIL, "
        "Reason.HAS_OTHER_DB_TBL}",
    ),
    "a wrong owner spoils nothing": (
        conformity, "{Reason.HAS_OTHER_DB, Reason.OWNER_PATH_FAIL, ", "{Reason.HAS_OTHER_DB, ",
    ),
    "a table is its database's owner's": (
        conformity, ".holds(table.location, table.owner)", ".holds(table.location, db.owner)",
    ),
    "databases under a table are overlooked": (
        conformity,
        "(Reason.HAS_OTHER_DB, self._db_places.of_others(table.location, table.db))",
        "(Reason.HAS_OTHER_DB, ((), 0))",
    ),
    "an owner's directory is a place in it": (
        templates, "location != place and location", "location",
    ),
    "the last template decides": (
        templates, "for template in templates:", "for template in reversed(templates):",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_planted_in_the_rules_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    where, right, wrong = MUTANTS[name]
    mutants = {}
    for module in (nesting, templates, conformity):
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        if module is where:
            assert source.count(right) == 1, f"{right!r} stands there no more: repair this mutant"
            source = source.replace(right, wrong)
        written = tmp_path / f"{module.__name__}.py"
        written.write_text(source, encoding="utf-8")
        mutants[module] = loaded(module.__name__, written, monkeypatch)
    rules, parse = mutants[conformity], mutants[templates].Template.parse
    assert any(caught(rules, lake, parse) for lake in lakes(N_FOR_MUTANTS))


def caught(rules: ModuleType, lake: Lake, parse: Callable[..., Any]) -> bool:
    return judged_by(rules, lake, parse) != oracle(lake)


def loaded(name: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load a module from other source; those loaded after it import it by its own name."""
    spec = importlib.util.spec_from_file_location(name, source)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, made)
    spec.loader.exec_module(made)
    return made


def test_the_oracle_knows_nothing_of_the_product() -> None:
    support = Path(__file__).parents[3] / "support"
    for name in ("path_oracle.py", "random_paths.py"):
        source = (support / name).read_text(encoding="utf-8")
        assert not {"lifecycle", "portal"} & set(
            re.findall(r"^(?:from|import) (\w+)", source, re.M)
        )
