"""Tests policies of Hudi tables: kept beside those of Iceberg tables, by the same rules."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from optimizer.models import HudiTable, PolicyVersion
from optimizer.policies.domain.formats import TableFormat, is_built_in
from optimizer.policies.domain.hudi_policy import Profile
from optimizer.policies.selectors.hudi_policies import hudi_policies_of
from optimizer.policies.selectors.policies import policies_of, policy_current, policy_history
from optimizer.policies.selectors.scopes import table_names
from optimizer.policies.services.policies import PolicyChange, policy_set
from optimizer.policies.services.preview import policy_preview
from portal.audit.models import AuditEvent
from portal.lake.errors import NotVisible, RuleViolation, StaleState
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.unit.optimizer.hudi.hudi_world import LOCK

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
LAKE = "main"
HUDI = TableFormat.HUDI


def change(scope: str, seen: int = 0, **values: object) -> PolicyChange:
    return PolicyChange(LAKE, scope, values, seen, "because", HUDI)


def test_a_scope_says_one_thing_of_hudi_tables_and_another_of_iceberg_tables(
    people: People,
) -> None:
    hudi("clicks", db="shop")
    policy_set(
        PolicyChange(LAKE, "*", {"is_on": True, "manifests": 9}, 0, "so"),
        user=people.admin,
        now=NOW,
    )
    policy_set(change("*", is_on=True, profile="near-line"), user=people.admin, now=NOW)
    own = policy_set(change("shop.clicks", lock=LOCK, commits=3), user=people.owner, now=NOW)
    policies = hudi_policies_of(LAKE)
    found = policies.of("shop", "clicks")
    assert (found.policy.profile, found.policy.commits) == (Profile.NEAR_LINE, 3)
    assert found.policy.is_continuous
    assert found.policy.has_lock
    assert found.sources["commits"] == "shop.clicks"
    assert found.sources["is_on"] == "*"
    assert is_built_in(found.sources["minutes"])
    everywhere = policy_current(LAKE, "*", HUDI)
    assert everywhere is not None
    assert set(policies.versions(found)) == {own.pk, everywhere.pk}
    assert policies_of(LAKE).of("shop", "clicks").policy.manifests == 9
    assert policies_of(LAKE).of("shop", "clicks").versions != policies.versions(found)
    assert policy_history(LAKE, "*").count() == 1
    event = AuditEvent.objects.latest("seq")
    assert (event.action, event.data["format"]) == ("optimizer.policy_changed", "hudi")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"manifests": 5}, "policy.field"),
        ({"lock": "not a class"}, "policy.value"),
        ({"cluster_files": 5}, "policy.contradiction"),
        ({"kinds": ["TTL"], "ttl_days": 5}, "policy.contradiction"),
        ({}, "policy.same"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_kept(
    people: People, values: dict[str, Any], code: str
) -> None:
    hudi("clicks", db="shop")
    with pytest.raises(RuleViolation) as refused:
        policy_set(change("shop.clicks", **values), user=people.owner, now=NOW)
    assert refused.value.code == code
    assert not PolicyVersion.objects.exists()


def test_the_table_must_be_a_hudi_table_that_they_see(people: People) -> None:
    hudi("clicks", db="shop")
    hudi("old", db="shop", is_deleted=True)
    for scope, user in (("shop.clicks", people.stranger), ("shop.old", people.admin)):
        with pytest.raises(NotVisible, match="no Hudi table"):
            policy_set(change(scope, is_on=True), user=user, now=NOW)
    with pytest.raises(StaleState):
        policy_set(change("shop.clicks", seen=1, is_on=True), user=people.owner, now=NOW)


def test_a_trial_tells_what_another_kind_of_table_brings_with_it(people: People) -> None:
    hudi("clicks", db="shop")
    hudi("own", db="shop")
    policy_set(change("shop.own", profile="etl", minutes=30), user=people.admin, now=NOW)
    names = table_names(LAKE, people.admin, HUDI)
    found = policy_preview(change("*", profile="near-line"), user=people.admin, names=names)
    assert (found.n_tables, found.n_changed, found.bad) == (2, 1, "")
    moved = {one.setting: (one.was, one.would_be, one.n_tables) for one in found.changes}
    assert moved["minutes"] == (1440, 15, 1)
    assert moved["quiet"] == ("07:00-22:00", None, 1)
    assert not PolicyVersion.objects.filter(scope="*").exists()


def test_they_are_set_from_a_shell(people: People, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--lake", LAKE, "--user", "ada", "--reason", "streams", "--format", "hudi"]
    for _ in range(2):
        call_command("optimizer_policy", "*", '{"profile": "near-line"}', *given)
    assert capsys.readouterr().out.splitlines() == [
        "* is at version 1.",
        "* has these values already, in version 1.",
    ]
    assert policy_current(LAKE, "*") is None
    with pytest.raises(CommandError, match=r"policy\.field"):
        call_command("optimizer_policy", "*", '{"manifests": 5}', *given)


@pytest.mark.usefixtures("lake")
def test_programs_read_try_and_set_them(client: Client, people: People) -> None:
    hudi("clicks", db="shop")
    client.force_login(people.admin)
    base = "/api/v1/optimizer/policies/"
    wish = {"scope": "shop*", "values": {"commits": 4}, "table_format": "hudi"}
    tried = client.post(f"{base}preview/?lake={LAKE}", wish, content_type="application/json")
    assert tried.json()["n_changed"] == 1
    made = client.post(
        f"{base}?lake={LAKE}", {**wish, "seen": 0, "reason": "so"}, content_type="application/json"
    )
    assert (made.status_code, made.json()["table_format"]) == (201, "hudi")
    for asked, scopes in (("", []), ("&table_format=hudi", ["shop*"])):
        rows = client.get(f"{base}?lake={LAKE}{asked}").json()["results"]
        assert [row["scope"] for row in rows] == scopes
    history = client.get(f"{base}of/shop*/?lake={LAKE}&table_format=hudi").json()["results"]
    assert history[0]["values"] == {"commits": 4}
    assert client.get(f"{base}of/shop*/?lake={LAKE}").status_code == 404
    table = HudiTable.objects.get()
    found = client.get(f"/api/v1/optimizer/hudi/{table.pk}/policy/").json()
    assert (found["scope"], found["seen"]) == ("shop.clicks", 0)
    assert found["settings"]["commits"] == {"value": 4, "scope": "shop*"}
    refused = client.get(f"{base}?lake={LAKE}&table_format=delta")
    assert (refused.status_code, refused.json()["code"]) == (400, "policy.format")
