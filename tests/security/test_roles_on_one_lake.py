"""Tests that an admin of one lake is a stranger to every address of the other."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.http.response import HttpResponseBase
from django.test import Client

from portal.access.models import LakeRole, User
from tests.component.lifecycle.plan_world import LAKE
from tests.security.grid import GRID
from tests.security.second_lake import OTHER, TwoLakes, add_second_lake
from tests.security.target import PEOPLE, Target
from tests.security.test_access_grid import REFUSED, address, refuses, states
from tests.security.test_two_lakes import text_of, with_query

pytestmark = pytest.mark.django_db(transaction=True)
# What a grid calls a stranger has every role here, and none of them on the lake that is attacked.
WHO = "stranger"
# A list of the pipelines of all lakes that a person keeps, whatever lake a program names.
OF_ALL_THEIR_LAKES = ("pipelines-api:pipelines",)


@pytest.fixture
def two(target: Target, tmp_path: Path) -> TwoLakes:
    found = add_second_lake(tmp_path)
    user = target.world.person(PEOPLE[WHO])
    for role in ("admin", "operator"):
        LakeRole.objects.create(user=user, role=role, lake=OTHER)
    return found


def post(target: Target, path: str, body: Mapping[str, Any]) -> HttpResponseBase:
    said = {
        key: str(target.values[value[1:]]) if str(value).startswith("@") else value
        for key, value in body.items()
    }
    client = target.client(WHO)
    if path.startswith("/api/"):
        return client.post(path, json.dumps(said), content_type="application/json")
    return client.post(path, said)


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


def test_no_form_changes_anything_on_the_other_lake(target: Target, two: TwoLakes) -> None:
    wrong, before, n_sent = [], states(target), 0
    for name, row in GRID.items():
        if WHO in row.changes:
            continue
        path = with_query(address(name, target), f"lake={LAKE}")
        answer = post(target, path, row.body)
        if not refuses(WHO, answer):
            wrong.append(f"POST {path}: {answer.status_code}")
        n_sent += 1
    assert not wrong, "\n".join(wrong)
    assert states(target) == before
    assert n_sent > 150


def test_the_own_lake_opens_all_that_is_of_a_lake(target: Target, two: TwoLakes) -> None:
    client, closed, n_open = target.client(WHO), [], 0
    for name, row in GRID.items():
        if not row.is_get or row.values or "admin" not in row.reads:
            continue
        answer = client.get(with_query(address(name, target), f"lake={OTHER}"))
        n_open += answer.status_code == 200
        if answer.status_code in REFUSED:
            closed.append(name)
    # What belongs to no lake needs the role on all lakes.
    assert sorted(closed) == [
        "refresh-api:clusters", "refresh:cluster-add", "refresh:clusters", "ui:api-health",
        "ui:api-people", "ui:health", "ui:people",
    ]  # fmt: skip
    assert n_open > 70
