"""Tests that no regular expression of ours takes long on text that was written to be slow."""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import product

import pytest

import lifecycle
import optimizer
import portal
import quality
import refresh
from optimizer.policies.domain.policy import _compiled

LONGEST = 1_000
MOST_SECONDS = 0.2
PUMPS = [
    *("a", "A", "0", " ", ".", '"', "\\", "=", "`", ":", "/", "-", "%", "(", "\t", "_", ","),
    *("a.", "a ", "0-", '" = "', '\\"', "00:00-", "NOT NULL ", "a=2026-01-", "%41", "(a", "a,"),
]
# Programs that are started, and settings of other deployments: importing them does something.
NOT_IMPORTED = ("jobs", "settings", "management", "wsgi", "serving", "spark.entry", "migrations")


def modules() -> Iterator[str]:
    for package in (portal, lifecycle, refresh, optimizer, quality):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not any(f".{word}" in found.name for word in NOT_IMPORTED):
                yield found.name


def patterns() -> dict[str, re.Pattern[str]]:
    return {
        f"{name}.{key}": value
        for name in modules()
        for key, value in vars(importlib.import_module(name)).items()
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str)
    }


def test_no_pattern_is_slow_on_repeated_text() -> None:
    slow = []
    known = patterns()
    for (name, pattern), pump in product(known.items(), PUMPS):
        text = (pump * LONGEST)[:LONGEST]
        for said in (text, text + "!", f'"{text}', f"a{text}\n"):
            began = time.thread_time()
            pattern.search(said)
            pattern.fullmatch(said)
            took = time.thread_time() - began
            if took > MOST_SECONDS:
                slow.append(f"{name} takes {took:.2f} s on {said[:9]!r}...")
    assert slow == []
    assert len(known) > 30


@pytest.mark.parametrize("scope", ["*a" * 12 + ".*", "*" * 12 + "b.*", "a*" * 60 + "b.x"])
def test_a_policys_scope_of_many_stars_is_matched_at_once(scope: str) -> None:
    began = time.thread_time()
    assert not _compiled(scope).fullmatch("a" * 128 + "!.orders.x")
    assert not _compiled(scope).fullmatch("a" * 128)
    assert time.thread_time() - began < MOST_SECONDS


def test_a_scope_matches_what_its_stars_always_matched() -> None:
    globs = ["".join(one) for n in range(5) for one in product("ab*?", repeat=n)]
    names = ["".join(one) for n in range(6) for one in product("ab", repeat=n)]
    wrong = [
        (glob, name)
        for glob in globs
        for name in names
        if bool(_compiled(glob).fullmatch(name)) != fnmatchcase(name, glob)
    ]
    assert wrong == []
    assert not _compiled("a*").fullmatch("a.b")
    assert _compiled("a*.*b").fullmatch("ax.xb")
