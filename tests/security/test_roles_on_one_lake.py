"""Tests that an admin of one lake is a stranger to every address of the other.

What is refused has to be refused for the person: the forms are right, so that neither a wrong value
(400) nor a change of somebody else (409) stands for a right that nobody asked for.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import reverse

from portal.access.models import LakeRole, User
from portal.ui.frame.lakes import object_lakes_of
from tests.component.lifecycle.plan_world import LAKE
from tests.security.grid import GRID
from tests.security.grid_rows import Row
from tests.security.second_lake import OTHER, TwoLakes, add_second_lake, rows_of
from tests.security.target import PEOPLE, Target
from tests.security.test_access_grid import REFUSED, address
from tests.security.test_two_lakes import (
    NO_LAKE_OF_ITS_OWN,
    WITHOUT_LAKE,
    text_of,
    with_query,
)

pytestmark = pytest.mark.django_db(transaction=True)
# What a grid calls a stranger has every role here, and none of them on the lake that is attacked.
WHO = "stranger"
# A list of the pipelines of all lakes that a person keeps, whatever lake a program names.
OF_ALL_THEIR_LAKES = ("pipelines-api:pipelines",)
# Objects of a lake that a page takes from what stands behind its address.
IN_QUERIES = {
    "readiness:check-set-new": "trial={check_trial_id}",
    "pipelines:materialization-new": "advice={materialization_advice_id}",
}
# Whoever may log in does this on every lake, or to what is their own.
OF_EVERYBODY = {
    *("ui:red-button", "ui:api-red-button", "ui:saved-view-save", "ui:api-saved-views"),
    *("ui:mail-one-click", "ui:token-new", "ui:api-tokens"),
    *("lifecycle:calendar-make", "lifecycle:calendar-end"),
    *("lifecycle-api:calendar", "lifecycle-api:calendar-end"),
    # Queries without tables, which nobody's rights are asked for.
    "optimizer-hook:trino-queries",
}
# What belongs to no lake needs the role on all lakes.
OF_NO_LAKE = {
    *("refresh-api:clusters", "refresh:cluster-add", "refresh:clusters"),
    *("ui:api-health", "ui:api-people", "ui:health", "ui:people"),
}
OF_PEOPLE = ("ui:person-", "ui:api-person-close", "ui:api-person-reopen")


@pytest.fixture
def two(target: Target, tmp_path: Path) -> TwoLakes:
    found = add_second_lake(tmp_path)
    _give_roles(target, OTHER)
    return found


def _give_roles(target: Target, lake: str) -> None:
    user = target.world.person(PEOPLE[WHO])
    for role in ("admin", "operator"):
        LakeRole.objects.create(user=user, role=role, lake=lake)


def post(target: Target, path: str, body: Mapping[str, Any]) -> HttpResponseBase:
    client, said = target.client(WHO), target.said(body)
    if path.startswith("/api/"):
        return client.post(path, json.dumps(said), content_type="application/json")
    return client.post(path, said)


def is_of_others(name: str, row: Row) -> bool:
    """Whether the address is of an object of one lake, or of what needs the role on all lakes."""
    if name in OF_NO_LAKE or name.startswith((*NO_LAKE_OF_ITS_OWN, *OF_PEOPLE)):
        return True
    values = dict.fromkeys(value.partition(":")[0] for value in row.values)
    return "proposal_id" in values or bool(object_lakes_of(name, values))


def refuses(row: Row, answer: HttpResponseBase) -> bool:
    """Whether the person is refused, or no form is taken there of anybody."""
    return answer.status_code in REFUSED or (answer.status_code == 405 and not row.changes)


def mixed(name: str, target: Target, two: TwoLakes) -> Iterator[str]:
    """Give the addresses that name an object of the own lake, and with it one of the other."""
    row = GRID[name]
    places = [value.partition(":") for value in row.values]
    values = {key: target.values[other or key] for key, _, other in places}
    for known in object_lakes_of(name, values):
        if not values.keys() - WITHOUT_LAKE - {known.value}:
            continue
        model = apps.get_model(known.model)
        found = model._default_manager.filter(**{known.field: values[known.value]}).first()
        if found is not None:
            own = getattr(two.copy_of(found), known.field)
            yield reverse(name, kwargs={**values, known.value: own})


def test_every_address_of_the_other_lake_is_refused_or_says_nothing(
    target: Target, two: TwoLakes
) -> None:
    client, plain, wrong, n_refused = target.client(WHO), Client(), [], 0
    plain.force_login(User.objects.create(username="nora"))
    for name, row in GRID.items():
        if not row.is_get or row.is_door:
            continue
        path = with_query(address(name, target), f"lake={LAKE}")
        for asked in (path, f"{path}&format=csv"):
            answer = client.get(asked)
            if WHO not in row.reads and name not in OF_ALL_THEIR_LAKES:
                n_refused += answer.status_code in REFUSED
                if answer.status_code not in REFUSED:
                    wrong.append(f"GET {asked}: {answer.status_code}")
            elif found := set(two.strays(text_of(answer), lake=OTHER)):
                # Some lists are for everybody: a person without any role sees as much.
                known = set(two.strays(text_of(plain.get(asked)), lake=OTHER))
                wrong += [f"GET {asked}: {one}" for one in found - known]
    assert not wrong, "\n".join(wrong)
    assert n_refused > 200


def test_the_own_lake_in_an_address_opens_no_object_of_the_other(
    target: Target, two: TwoLakes
) -> None:
    client, wrong, n_refused = target.client(WHO), [], 0
    for name, row in GRID.items():
        if not (row.is_get and row.values) or row.is_door or WHO in row.reads:
            continue
        path = with_query(address(name, target), f"lake={OTHER}")
        answer = client.get(path)
        if is_of_others(name, row):
            n_refused += 1
            if answer.status_code not in REFUSED:
                wrong.append(f"GET {path}: {answer.status_code}")
        else:
            found = [one for one in two.strays(text_of(answer), lake=OTHER) if one not in path]
            wrong += [f"GET {path}: {one}" for one in found]
    assert not wrong, "\n".join(wrong)
    assert n_refused > 120


def test_no_object_of_the_other_lake_stands_beside_one_of_the_own(
    target: Target, two: TwoLakes
) -> None:
    wrong, before, n_asked = [], rows_of(LAKE), 0
    for name, row in GRID.items():
        for path in mixed(name, target, two):
            for lake in (LAKE, OTHER):
                asked = with_query(path, f"lake={lake}")
                answers = {"POST": post(target, asked, row.body)}
                if row.is_get:
                    answers["GET"] = target.client(WHO).get(asked)
                for method, answer in answers.items():
                    if not refuses(row, answer):
                        wrong.append(f"{method} {asked}: {answer.status_code}")
            n_asked += 1
    for name, query in IN_QUERIES.items():
        path = f"{reverse(name)}?lake={OTHER}&{query.format_map(target.values)}"
        status = target.client(WHO).get(path).status_code
        if status not in REFUSED:
            wrong.append(f"GET {path}: {status}")
    assert not wrong, "\n".join(wrong)
    assert rows_of(LAKE) == before
    assert n_asked > 20


def test_no_form_changes_anything_on_the_other_lake(target: Target, two: TwoLakes) -> None:
    wrong, before, n_sent = [], (rows_of(LAKE), rows_of(OTHER)), 0
    for name, row in GRID.items():
        if WHO in row.changes:
            continue
        path = with_query(address(name, target), f"lake={LAKE}")
        answer = post(target, path, row.body)
        if not refuses(row, answer):
            wrong.append(f"POST {path}: {answer.status_code}")
        n_sent += bool(row.changes)
    assert not wrong, "\n".join(wrong)
    assert (rows_of(LAKE), rows_of(OTHER)) == before
    assert n_sent > 250


@pytest.mark.parametrize(("address_lake", "form_lake"), [(OTHER, LAKE), (LAKE, OTHER)])
def test_the_own_lake_in_a_form_or_its_address_changes_nothing_of_the_other(
    target: Target, two: TwoLakes, address_lake: str, form_lake: str
) -> None:
    wrong, before, n_sent = [], rows_of(LAKE), 0
    for name, row in GRID.items():
        if name in OF_EVERYBODY or not row.changes:
            continue
        path = with_query(address(name, target), f"lake={address_lake}")
        answer = post(target, path, {**row.body, "lake": form_lake})
        # Without an object, what is asked for may be of the own lake.
        if is_of_others(name, row) and WHO not in row.changes:
            n_sent += 1
            if not refuses(row, answer):
                wrong.append(f"POST {path}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)
    assert rows_of(LAKE) == before
    assert n_sent > 150


def test_the_own_lake_opens_all_that_is_of_a_lake(target: Target, two: TwoLakes) -> None:
    client, closed, n_open = target.client(WHO), set(), 0
    for name, row in GRID.items():
        if not row.is_get or row.values or "admin" not in row.reads:
            continue
        answer = client.get(with_query(address(name, target), f"lake={OTHER}"))
        n_open += answer.status_code == 200
        if answer.status_code in REFUSED:
            closed.add(name)
    assert closed == OF_NO_LAKE
    assert n_open > 70


def test_an_admin_of_a_lake_opens_every_object_of_it(target: Target, tmp_path: Path) -> None:
    add_second_lake(tmp_path)
    _give_roles(target, LAKE)
    client, closed, n_open = target.client(WHO), set(), 0
    for name, row in GRID.items():
        if row.is_get and row.values and "admin" in row.reads:
            status = client.get(with_query(address(name, target), f"lake={LAKE}")).status_code
            n_open += status == 200
            if status in REFUSED:
                closed.add(name)
    assert {name for name in closed if not name.startswith(NO_LAKE_OF_ITS_OWN)} == set()
    assert n_open > 100
