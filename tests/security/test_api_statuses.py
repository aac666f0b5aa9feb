"""Compares the statuses that the API answers with the ones that its OpenAPI document lists."""

import re
from typing import Any

import pytest
from django.urls import resolve

from portal.ui.api.schema import document
from tests.security.grid import GRID
from tests.security.target import Target
from tests.security.test_access_grid import address, send

pytestmark = pytest.mark.django_db(transaction=True)


def described(path: str) -> dict[str, Any]:
    """Return the operations of an address by method; empty where it is not in the document."""
    shape = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", "/" + resolve(path).route)
    found: dict[str, Any] = document()["paths"].get(shape, {})
    return found


def test_every_status_that_comes_is_in_the_document(target: Target) -> None:
    wrong, n_asked, seen = [], 0, set()
    for name, row in GRID.items():
        path = address(name, target)
        if not path.startswith("/api/"):
            continue
        plain = path.split("?", 1)[0]
        operations = described(plain)
        for who in ("nobody", "admin"):
            client = target.client(who)
            asked: dict[str, list[Any]] = {"get": [client.get(path)]}
            asked["post"] = [send(name, who, target, row.body)]
            if who == "admin":
                asked["get"].append(client.get(f"{plain}?after=x&size=x"))
                asked["post"] += [
                    client.post(plain, "{", content_type="application/json"),
                    client.post(plain, "x", content_type="text/plain"),
                ]
            for method in asked.keys() & operations.keys():
                for answer in asked[method]:
                    n_asked += 1
                    seen.add(answer.status_code)
                    if str(answer.status_code) not in operations[method]["responses"]:
                        wrong.append(f"{method} {name} as {who}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)
    assert n_asked > 300
    assert {200, 400, 401, 403, 404, 409, 415} <= seen


def test_every_error_has_the_one_form() -> None:
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            for status in ("403", "429", "503"):
                reference = operation["responses"][status]["$ref"]
                assert reference == f"#/components/responses/Error{status}", (path, method)
    for name, answer in document()["components"]["responses"].items():
        schema = answer["content"]["application/json"]["schema"]
        assert schema["$ref"] == "#/components/schemas/Error", name
