"""Tests odd input, typed, sent or linked: refused with a message, or kept exactly as it was."""

import base64
import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from lifecycle.backup.models import Hold
from lifecycle.models import DeletionRequest, Enrollment, PolicyRequest
from portal.audit.services import audit_verify
from portal.runs.models import Run
from tests.component.lifecycle.plan_world import PASSWORD
from tests.security.corpora import (
    AWAY,
    FORMULAS,
    HIVE_NAMES,
    LINES,
    LONG,
    MARKUP,
    PATHS,
    SIGNS,
    SQL,
    TEXTS,
)
from tests.security.grid import GRID
from tests.security.inert import Page
from tests.security.odd_lake import PARTITIONS, OddLake, too_long
from tests.security.target import Target
from tests.security.test_access_grid import address

pytestmark = pytest.mark.django_db(transaction=True)
FILTERS = (
    *("db", "table", "owner", "person", "partition", "reason", "state", "kind", "show", "mode"),
    *("action", "actor", "object_type", "object_id", "recipient", "requested_by", "since", "until"),
    *("sort", "size", "lake", "cls", "due_from", "rule", "hold", "tables", "databases", "typed"),
    *("level", "ttl", "open", "q", "username", "was", "day"),
)
JSON = "application/json"
WRONG_TTLS = ("0", "-1", str(10**12), "60 days", "60.5", "1e3", "0x10", "", "NaN", "\u00bd")
JSON_VALUES: tuple[Any, ...] = (
    *("\ud800", "\x00", None, True, -1, 10**400, 1e308, [], {}, ["x"], {"x": [1]}, "", " "),
)
BODIES = (
    *(b"", b"\xff\xfe", b"{", b"[]", b'"x"', b"null", b'{"reason": 1e999}', b'{"a":1}{"a":2}'),
    *(b"[" * 5_000, b'{"reason":' * 5_000, b'{"reason": "\\ud800"}', b'{"reason": NaN}'),
)


FILTERED = {
    **MARKUP,
    **SQL,
    **LONG,
    **dict(list(SIGNS.items())[:8]),
    **dict(list(AWAY.items())[:4]),
}


def speaks(answer: Any, where: str) -> str:
    """Say what is wrong with an answer to something odd; empty when it is served or refused."""
    if answer.status_code in (200, 201, 202, 204, 302):
        return ""
    # 502 names an outside system that does not answer: no metastore runs here.
    if answer.status_code not in (400, 403, 404, 405, 409, 415, 502):
        return f"{where}: {answer.status_code}"
    text = answer.content.decode()
    if "api/" in where:
        data = answer.json()
        return "" if data.get("code") and data.get("message") else f"{where}: {data}"
    said_so = ("lw-error-message", "lw-field-error", 'role="alert"')
    return "" if any(mark in text for mark in said_so) else f"{where}: says nothing"


def lists() -> Iterator[str]:
    for name, row in GRID.items():
        is_list = row.is_get and not row.is_door and not row.values
        # The explorer asks for its own script with the query that it was asked with.
        if is_list and "requester" in row.reads and name != "ui:api-explorer":
            yield name


def test_an_odd_filter_is_refused_or_shown_and_never_run(target: Target) -> None:
    client, wrong = target.client("requester"), []
    names = cycle(lists())
    for n, (name, text) in enumerate(FILTERED.items()):
        page = next(names)
        said = dict.fromkeys(
            (*FILTERS, *(("after", "before")[n % 2 :] if n % 3 == 0 else ())), text
        )
        answer = client.get(address(page, target), said)
        wrong.append(speaks(answer, f"{address(page, target)} by {name}"))
        if "html" in answer.headers.get("Content-Type", ""):
            found = Page(answer.content.decode()).wrong
            wrong += [f"{page} by {name}: {found[:3]}"] if found else []
    assert not any(wrong), "\n".join(filter(None, wrong))


def test_an_odd_place_in_a_list_is_refused_in_words(target: Target) -> None:
    client = target.client("requester")
    for values in (["x"], ["x", "y"], [None, None], [{}, 1], ["x", "1", 1], [10**30, "'"], [True]):
        cursor = base64.urlsafe_b64encode(json.dumps(values).encode()).decode()
        for page in ("lifecycle:paths", "lifecycle:holds", "ui:audit", "lifecycle-api:paths"):
            answer = client.get(address(page, target), {"after": cursor})
            assert not speaks(answer, address(page, target)), (page, values)


def test_an_odd_address_is_not_found(target: Target) -> None:
    client, views = target.client("requester"), cycle(("database", "table", "backup-table"))
    for text in {**PATHS, **HIVE_NAMES, **LINES}.values():
        view, row = next(views), {"db": text, "table": text, "day": target.values["day"]}
        keys = {"database": ("db",), "table": ("db", "table")}.get(view, tuple(row))
        where = reverse(f"lifecycle:{view}", kwargs={key: row[key] for key in keys})
        assert client.get(where).status_code == 404, where


def test_odd_words_in_a_form_are_kept_whole_or_refused(target: Target) -> None:
    """Each field of each form in turn; whoever may send it."""
    texts, wrong, clients = cycle(TEXTS.items()), [], dict[str, Client]()
    for name, row in GRID.items():
        if not row.changes or "log" in name:
            continue
        who = "requester" if "requester" in row.changes else min(row.changes)
        client = clients[who] = clients.get(who) or target.client(who)
        body = {key: _value(target, value) for key, value in row.body.items()}
        for field in body:
            key, text = next(texts)
            where = address(name, target)
            said = body | {field: text}
            answer = (
                client.post(where, json.dumps(said), content_type=JSON)
                if "/api/" in where
                else client.post(where, said)
            )
            wrong.append(speaks(answer, f"{where} with {field} = {key}"))
    assert not any(wrong), "\n".join(filter(None, wrong))
    assert too_long() == []
    assert audit_verify().problem == ""


def _value(target: Target, value: Any) -> Any:
    return str(target.values[value[1:]]) if str(value).startswith("@") else value


def test_what_is_no_json_of_ours_is_refused_in_words(target: Target) -> None:
    values, bodies, wrong = cycle(JSON_VALUES), cycle(BODIES), []
    for name, row in GRID.items():
        where = address(name, target)
        if not row.changes or "/api/" not in where:
            continue
        client = target.client("requester" if "requester" in row.changes else min(row.changes))
        sent = [json.dumps({**row.body, field: next(values)}) for field in row.body]
        for body in [*sent, next(bodies), next(bodies)]:
            answer = client.post(where, body, content_type=JSON)
            wrong.append(speaks(answer, f"{where} with {body[:60]!r}"))
    assert not any(wrong), "\n".join(filter(None, wrong))


def test_a_ttl_that_is_none_is_refused_everywhere_and_nothing_is_stored(target: Target) -> None:
    n_before = (PolicyRequest.objects.count(), Enrollment.objects.count())
    for ttl in WRONG_TTLS:
        for name in (
            *("lifecycle:policy-request-new", "lifecycle-api:policy-requests"),
            *("lifecycle:enrolment-new", "lifecycle-api:enrolments"),
        ):
            where, client = address(name, target), target.client("requester")
            said = dict(GRID[name].body) | {"ttl": ttl}
            api = "/api/" in where
            answer = (
                client.post(where, json.dumps(said), content_type=JSON)
                if api
                else client.post(where, said, follow=True)
            )
            assert answer.status_code in ((400,) if api else (200, 400)), (where, ttl)
            assert "TTL" in answer.content.decode() or "ttl" in answer.content.decode(), where
    assert (PolicyRequest.objects.count(), Enrollment.objects.count()) == n_before


def held(client: Client, where: str, partition: str) -> str:
    said = {"db": "sales", "table": "orders", "partition": partition, "reason": "a case"}
    if "/api/" in where:
        answer = client.post(where, json.dumps(said), content_type=JSON)
        assert answer.status_code == 201, (partition, answer.content)
    else:
        assert client.post(where, said).status_code == 302, partition
    return Hold.objects.latest("id").partition


def test_a_wish_about_a_partition_is_about_that_very_one(odd: OddLake) -> None:
    Hold.objects.all().delete()
    names = [PARTITIONS[name] for name in (*HIVE_NAMES, *SIGNS, *FORMULAS, *LONG)]
    anna, alice = odd.client("anna"), odd.client("alice")
    for partition in names:
        assert held(anna, reverse("lifecycle:hold-place"), partition) == partition
        assert held(anna, reverse("lifecycle-api:holds"), partition) == partition
    for where in (reverse("lifecycle:wish-new"), reverse("lifecycle-api:wishes")):
        for partition in (PARTITIONS["a space at the end"], PARTITIONS["spaces around"]):
            wish_of = {"db": "sales", "table": "orders", "partition": partition, "reason": "old"}
            is_api = "/api/" in where
            alice.post(where, wish_of, content_type=JSON) if is_api else alice.post(where, wish_of)
            wish = DeletionRequest.objects.latest("created_at", "id")
            assert wish.partition == partition
            DeletionRequest.objects.all().delete()
    some = [PARTITIONS[name] for name in HIVE_NAMES]
    said = {"batches": str(odd.batch.public_id), "reason": "needed", "partitions": some}
    assert alice.post(reverse("lifecycle:restore-new"), said).status_code == 302
    assert sorted(Run.objects.latest("queued_at", "id").params["partitions"]) == sorted(some)


def leads_away(location: str) -> bool:
    """Whether a browser would leave the site: it drops tabs, breaks and control signs first."""
    plain = "".join(c for c in location if ord(c) > 32).replace("\\", "/")
    return not plain.startswith("/") or plain.startswith("//")


def test_no_page_sends_a_person_to_another_site(target: Target) -> None:
    for name, away in AWAY.items():
        client = target.client("owner")
        form = {"username": "alice", "password": PASSWORD, "next": away}
        for answer in (
            client.post(reverse("ui:fresh-login"), {"password": PASSWORD, "next": away}),
            client.post(reverse("ui:theme"), {"theme": "dark", "next": away}),
            client.get(reverse("ui:login"), {"next": away}),
            target.client("nobody").post(reverse("ui:login"), form),
        ):
            assert answer.status_code == 302, name
            assert not leads_away(answer["Location"]), (name, answer["Location"])
        shown = target.client("owner").get(reverse("ui:fresh-login"), {"next": away})
        assert not Page(shown.content.decode()).wrong, name
