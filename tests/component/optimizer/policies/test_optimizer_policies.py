"""Tests policies: who sets which, concurrent changes, and the settings that a table gets."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from optimizer.models import IcebergTable, PolicyVersion
from optimizer.policies.domain.policy import BUILT_IN
from optimizer.policies.selectors.policies import policies_of, policy_current, policy_history
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.access.models import DatabaseAdministrator
from portal.audit.models import AuditEvent
from portal.audit.services import audit_verify
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from tests.component.conftest import People
from tests.support.together import together

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
LAKE = "demo"


@pytest.fixture
def table(db: None) -> IcebergTable:
    return IcebergTable.objects.create(
        lake=LAKE,
        db="etl",
        table="events",
        uuid="u-1",
        owner="olga",
        event_at=NOW,
        columns={"a": "int", "b": "string", "m": "map<string, int>"},
    )


def change(scope: str, seen: int = 0, reason: str = "because", **values: object) -> PolicyChange:
    return PolicyChange(LAKE, scope, values, seen, reason)


def test_settings_are_versions_that_inherit_and_stand_in_the_record(
    people: People, table: IcebergTable
) -> None:
    policy_set(change("*", is_on=True, manifests=50), user=people.admin, now=NOW)
    policy_set(change("ETL.Events", layout="hilbert(a,b)"), user=people.owner, now=NOW)
    policy_set(change("etl.events", seen=1, layout="sort(a)"), user=people.owner, now=NOW)
    found = policies_of(LAKE).of("etl", "events")
    assert found.policy.is_on
    assert str(found.policy.layout) == "sort(a)"
    assert found.sources["manifests"] == "*"
    assert found.sources["quiet"] == BUILT_IN
    current = policy_current(LAKE, "etl.events")
    everywhere = policy_current(LAKE, "*")
    assert current is not None
    assert everywhere is not None
    assert set(found.versions) == {current.pk, everywhere.pk}
    assert [one.version for one in policy_history(LAKE, "etl.events")] == [2, 1]
    event = AuditEvent.objects.latest("seq")
    assert (event.action, event.actor, event.object_id) == (
        "optimizer.policy_changed",
        "olga",
        "etl.events",
    )
    assert audit_verify().broken_at is None
    policy_set(change("etl.events", seen=2), user=people.owner, now=NOW)
    assert not policies_of(LAKE).of("etl", "events").policy.layout


def test_who_answers_for_it_sets_it_and_nobody_else(people: People, table: IcebergTable) -> None:
    DatabaseAdministrator.objects.create(lake=LAKE, db="etl", username="dora")
    for scope in ("*", "etl*", "etl.*", "other"):
        with pytest.raises(NotAllowed, match="ask one"):
            policy_set(change(scope, manifests=5), user=people.dba, now=NOW)
    with pytest.raises(NotAllowed):
        policy_set(change("etl", manifests=5), user=people.owner, now=NOW)
    with pytest.raises(NotVisible, match=r"no Iceberg table etl\.events that you may see"):
        policy_set(change("etl.events", manifests=5), user=people.stranger, now=NOW)
    with pytest.raises(NotVisible):
        policy_set(change("etl.nothing", manifests=5), user=people.admin, now=NOW)
    policy_set(change("etl", manifests=5), user=people.dba, now=NOW)
    policy_set(change("etl.events", manifests=6), user=people.dba, now=NOW)
    policy_set(change("etl.*", manifests=7), user=people.admin, now=NOW)
    assert policies_of(LAKE).of("etl", "events").policy.manifests == 6
    assert policies_of(LAKE).of("etl", "else").policy.manifests == 7
    assert policies_of("other").of("etl", "events").sources["manifests"] == BUILT_IN


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"orphan_days": 1}, "policy.contradiction"),
        ({"quiet": "06:00-06:00"}, "policy.contradiction"),
        ({"layout": "sort(gone)"}, "layout.missing"),
        ({"layout": "sort(m)"}, "layout.type"),
        ({"layout": "hilbert(a,b,c,d,e)"}, "layout.columns"),
        ({"speed": 5}, "policy.field"),
        ({"manifests": "many"}, "policy.value"),
        ({}, "policy.same"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_kept(
    people: People, table: IcebergTable, values: dict[str, Any], code: str
) -> None:
    policy_set(change("etl*", is_on=True), user=people.admin, now=NOW)
    with pytest.raises(RuleViolation) as refused:
        policy_set(change("etl.events", **values), user=people.admin, now=NOW)
    assert refused.value.code == code
    assert policy_current(LAKE, "etl.events") is None


def test_a_reason_is_asked_for(people: People) -> None:
    for reason in ("", "  ", "x" * 1001):
        with pytest.raises(RuleViolation, match="Enter a reason"):
            policy_set(change("*", reason=reason, is_on=True), user=people.admin, now=NOW)


def test_the_second_of_two_people_is_told_to_look_again(people: People) -> None:
    policy_set(change("*", is_on=True), user=people.admin, now=NOW)
    for seen in (0, 2):
        with pytest.raises(StaleState, match="version 1 by now, set by"):
            policy_set(change("*", seen=seen, manifests=5), user=people.admin, now=NOW)
    assert PolicyVersion.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_people_at_once_and_one_of_them_is_first(people: People) -> None:
    def set_to(manifests: int, seen: int) -> None:
        policy_set(change("*", seen=seen, manifests=manifests), user=people.admin, now=NOW)

    for seen in range(3):
        said = together(partial(set_to, 10 + seen, seen), partial(set_to, 20 + seen, seen))
        assert sorted(said) == ["", "policy.changed"]
    assert policy_history(LAKE, "*").count() == 3
    assert PolicyVersion.objects.filter(is_current=True).count() == 1


def test_a_policy_is_set_from_a_shell_in_somebodys_name_and_once(
    people: People, table: IcebergTable, capsys: pytest.CaptureFixture[str]
) -> None:
    def say(scope: str, values: str, user: str = "olga") -> None:
        given = ["--lake", LAKE, "--user", user, "--reason", "streams"]
        call_command("optimizer_policy", scope, values, *given)

    for _ in range(2):
        say("etl.Events", '{"is_on": true, "layout": "hilbert( a, b)"}')
    assert capsys.readouterr().out.splitlines() == [
        "etl.events is at version 1.",
        "etl.Events has these values already, in version 1.",
    ]
    say("etl.events", '{"is_on": false}')
    newest, first = policy_history(LAKE, "etl.events")
    assert (newest.version, newest.by, newest.reason) == (2, "olga", "streams")
    assert first.values == {"is_on": True, "layout": "hilbert(a,b)"}
    for scope, values, user, words in (
        ("etl.events", '{"is_on": true}', "nobody", "no user nobody"),
        ("etl.events", '{"is_on": true}', "stan", "policy.table"),
        ("*", '{"is_on": true}', "olga", "policy.role"),
        ("etl.events", '{"is_on": 1}', "olga", "policy.value"),
        ("etl.events", '{"off": 1}', "olga", "policy.field"),
        ("etl.events", "is_on", "olga", "no JSON"),
        ("etl.events", "[1]", "olga", "an object"),
    ):
        with pytest.raises(CommandError, match=words):
            say(scope, values, user)
    assert policy_history(LAKE, "etl.events").count() == 2
