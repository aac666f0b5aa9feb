"""Tests that a list of the API takes, answers and documents what its class declares."""

from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from portal.ui.api.pages import KeysetList
from portal.ui.api.schema import document
from tests.component.conftest import People

PAGING = {"lake", "sort", "after", "before", "size"}


def lists(resolver: URLResolver) -> list[type[KeysetList]]:
    found: list[type[KeysetList]] = []
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            found += lists(pattern)
        elif isinstance(pattern, URLPattern):
            view = getattr(pattern.callback, "cls", None)
            if isinstance(view, type) and issubclass(view, KeysetList):
                found.append(view)
    return found


def operations() -> dict[str, dict[str, Any]]:
    paths = document()["paths"].values()
    return {one["operationId"]: one for path in paths for one in path.values()}


@pytest.mark.django_db
def test_the_document_names_every_filter_of_a_list_and_describes_its_page() -> None:
    documented, found = operations(), lists(get_resolver())
    for view in found:
        operation = documented[view.operation_id]
        parameters = {one["name"] for one in operation["parameters"] if one["in"] == "query"}
        assert parameters >= PAGING | set(view.filterset_class.base_filters), view
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        page = document()["components"]["schemas"][answer.rpartition("/")[2]]
        assert set(page["required"]) == {"results", "next", "previous"}, view
    assert len(found) > 40


@pytest.mark.usefixtures("lake")
def test_a_bad_filter_and_a_bad_cursor_are_refused_and_options_offer_no_form(
    people: People,
) -> None:
    client, address = Client(), reverse("ui:api-runs")
    client.force_login(people.admin)
    assert client.get(address).json() == {"results": [], "next": None, "previous": None}
    refused = client.get(address, {"state": "NONE"})
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["state"])
    refused = client.get(address, {"after": "nonsense"})
    assert (refused.status_code, refused.json()["code"]) == (400, "page.cursor")
    assert "actions" not in client.options(address).json()
