"""Tests policies: defaults of profiles, precedence of levels, a way out of contradictions."""

from dataclasses import fields
from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.hudi.maintenance.domain.tasks import DESTRUCTIVE, Service
from optimizer.policies.domain.hudi_policy import (
    FIELDS,
    PROFILES,
    HudiPolicy,
    Profile,
    check,
    contradiction,
    resolve,
)
from optimizer.policies.domain.hudi_values import (
    SETTINGS,
    read_values,
    typed,
    write_policy,
)
from optimizer.policies.domain.policy import BlackoutWindow, Level
from optimizer.policies.domain.values import write_values
from optimizer.policies.domain.words import changes, say
from portal.lake.errors import RuleViolation
from tests.unit.optimizer.hudi.hudi_world import LOCK, locked, policy

MINUTES = st.times().map(lambda at: at.replace(second=0, microsecond=0, fold=0))
NUMBER = st.integers(-2, 10**9)
POLICIES = st.builds(
    HudiPolicy,
    is_on=st.booleans(),
    profile=st.sampled_from(Profile),
    lock=st.sampled_from(["", LOCK, "x.InProcessLockProvider"]),
    writer_serialized=st.booleans(),
    kinds=st.frozensets(st.sampled_from(Service)),
    commits=NUMBER,
    minutes=NUMBER,
    cluster_files=NUMBER,
    ttl_days=NUMBER,
    stuck_minutes=NUMBER,
    stale_minutes=NUMBER,
    quiet=st.none() | st.builds(BlackoutWindow, MINUTES, MINUTES),
    budget_gb_hours=st.none() | st.floats(0, 1e6),
)


def level(scope: str, **values: object) -> Level:
    return Level(scope, read_values(values))


def test_a_profile_gives_what_no_level_names() -> None:
    levels = [level("*", is_on=True, commits=7), level("ads*", profile="near-line", minutes=5)]
    etl = resolve(levels, db="dwh", table="t")
    assert (etl.policy.profile, etl.policy.commits) == (Profile.ETL, 7)
    assert str(etl.policy.quiet) == "07:00-22:00"
    assert etl.sources["quiet"] == "default for etl"
    near = resolve(levels, db="ads_x", table="t")
    assert (near.policy.commits, near.policy.minutes) == (7, 5)
    assert near.policy.quiet is None
    assert near.policy.is_continuous
    assert near.sources["stale_minutes"] == "default for near-line"
    assert {near.sources["commits"], near.sources["minutes"]} == {"*", "ads*"}


def test_near_line_is_served_more_eagerly_than_etl_in_every_way() -> None:
    etl, near = PROFILES[Profile.ETL], PROFILES[Profile.NEAR_LINE]
    for one in ("commits", "minutes", "stuck_minutes", "stale_minutes", "max_pending"):
        assert getattr(near, one) < getattr(etl, one)


@pytest.mark.parametrize("profile", Profile)
def test_a_profile_is_off_harmless_and_can_be_meant(profile: Profile) -> None:
    assert not PROFILES[profile].is_on
    assert not PROFILES[profile].kinds & DESTRUCTIVE
    assert not PROFILES[profile].lock
    check(policy(profile))


@pytest.mark.parametrize(
    ("settings", "names", "way_out"),
    [
        (policy(commits=0), ["commits"], "take 1 or more"),
        (policy(stuck_minutes=5), ["stuck_minutes"], "take 10 or more"),
        (policy(stale_minutes=10**9), ["stale_minutes"], "or less"),
        (policy(quiet=BlackoutWindow(time(6), time(6))), ["is_on", "quiet"], "switch it off"),
        (policy(kinds=frozenset()), ["is_on", "kinds"], "allow a kind"),
        (policy(budget_gb_hours=0), ["is_on", "budget_gb_hours"], "give it a budget"),
        (locked(lock="a.InProcessLockProvider"), ["lock"], "FileSystemBasedLockProvider"),
        (locked(lock=""), ["kinds", "lock"], "take TTL out"),
        (policy(cluster_files=9), ["cluster_files", "lock"], "leave scheduling to the writer"),
        (
            locked(cluster_files=9, kinds=frozenset({Service.TTL})),
            ["cluster_files", "kinds"],
            "set cluster_files to 0",
        ),
        (policy(lock=LOCK, ttl_days=3), ["ttl_days", "kinds"], "set ttl_days to 0"),
        (locked(ttl_days=0), ["ttl_days", "kinds"], "take TTL out"),
        (policy(minutes=90, stale_minutes=60), ["minutes", "stale_minutes"], "be the smaller"),
        (policy(minutes=60, stale_minutes=800), ["quiet", "stale_minutes"], "allow more"),
    ],
)
def test_what_cannot_be_meant_names_its_settings_and_a_way_out(
    settings: HudiPolicy, names: list[str], way_out: str
) -> None:
    with pytest.raises(RuleViolation, match=way_out) as refused:
        check(settings)
    assert refused.value.fields["policy_fields"] == names


@given(POLICIES)
def test_a_policy_comes_back_from_its_json_and_a_contradiction_has_words(one: HudiPolicy) -> None:
    back = resolve([Level("*", read_values(write_policy(one)))], db="d", table="t")
    assert back.policy == one
    found = contradiction(one)
    assert found is None or found.message.endswith(".")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"target_bytes": 1}, "policy.field"),
        ({"profile": "fast"}, "policy.value"),
        ({"lock": "no class"}, "policy.value"),
        ({"lock": 3}, "policy.value"),
        ({"kinds": ["MINOR"]}, "policy.value"),
        ({"kinds": "CLEAN"}, "policy.value"),
        ({"is_on": 1}, "policy.value"),
        ({"commits": True}, "policy.value"),
        ({"quiet": "7-8"}, "policy.value"),
    ],
)
def test_what_is_no_setting_is_refused(values: dict[str, object], code: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        read_values(values)
    assert refused.value.code == code


def test_every_setting_has_words_and_what_is_said_can_be_typed() -> None:
    assert tuple(SETTINGS) == FIELDS == tuple(one.name for one in fields(HudiPolicy))
    written = write_policy(locked(quiet=None))
    for name in ("lock", "small_bytes", "quiet", "budget_gb_hours"):
        assert typed(name, say(name, written[name])) == written[name]
    assert typed("lock", "none") == ""
    with pytest.raises(RuleViolation, match="is no size"):
        typed("small_bytes", "many")


def test_a_change_is_said_with_the_titles_of_these_settings() -> None:
    before = write_values(read_values({"commits": 5, "lock": LOCK}))
    assert changes(before, {"commits": 9}, settings=SETTINGS) == [
        f"Shared lock: inherited again, {LOCK} before",
        "Delta commits: 5 → 9",
    ]
