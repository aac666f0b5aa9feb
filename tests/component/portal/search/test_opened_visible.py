"""What a person opened last is asked again each time whether the person may still see it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.access.models import User
from portal.catalog.models import Table
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.search.models import OpenedObject
from portal.search.selectors.opened import opened_last
from portal.search.services.opened import KEPT, opened_record
from tests.component.conftest import LAKE, NOW, People
from tests.component.portal.approvals.proposal_rows import CASES
from tests.component.portal.search.found import catalogued

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_remembered(lake: LakeConfig) -> None:
    """Nothing that another test opened."""
    cache.clear()


def opened(user: User, view: str, key: Mapping[str, Any], *, second: int = 0) -> None:
    at = NOW + timedelta(seconds=second)
    opened_record(user, view=view, key=key, lake=LAKE, url=f"/{view}/{key}/", now=at)


def titles(user: User) -> list[str]:
    return [hit.title for hit in opened_last(user, LAKE)]


def run_of(user: User) -> Run:
    return Run.objects.create(lake=LAKE, kind="scan", requested_by=user.username, queued_at=NOW)


def test_a_run_is_shown_while_it_is_there_and_the_person_may_see_it(people: People) -> None:
    run = run_of(people.owner)
    for user in (people.owner, people.admin, people.stranger):
        opened(user, "ui:run", {"run_id": run.pk})
        opened(user, "ui:run", {"run_id": uuid4()}, second=1)
        opened(user, "ui:run", {"run_id": "no id"}, second=2)
    title = f"Run {str(run.pk)[:8]}"
    assert (titles(people.owner), titles(people.admin)) == ([title], [title])
    assert titles(people.stranger) == []
    Run.objects.update(requested_by="stan")
    assert titles(people.owner) == []


def test_a_database_is_shown_while_the_person_may_see_a_table_of_it(
    people: People, now: datetime
) -> None:
    catalogued("sales.orders", now=now)
    for user in (people.owner, people.stranger):
        opened(user, "ui:database", {"db": "sales"})
        opened(user, "ui:database", {"db": "gone"}, second=1)
    assert titles(people.owner) == ["Database sales"]
    assert titles(people.stranger) == []
    Table.objects.update(is_living=None)
    assert titles(people.owner) == []


def test_proposals_of_every_kind_are_shown_to_those_who_may_see_them(
    people: People, now: datetime
) -> None:
    for second, (name, case) in enumerate(CASES.items()):
        proposal = case.ask("otto", now, 0)
        for user in (people.admin, people.stranger):
            opened(user, case.kind.page, {"proposal": proposal.pk}, second=second)
        assert [title.split(" ")[-1] for title in titles(people.admin)][:1] == [
            str(proposal.pk)[:8]
        ], name
    assert len(titles(people.admin)) == min(len(CASES), KEPT)
    assert titles(people.stranger) == []


def test_the_queries_do_not_grow_with_what_was_opened(people: People, now: datetime) -> None:
    rows = catalogued(*(f"sales.t{n}" for n in range(KEPT)), now=now)
    ways: dict[str, list[dict[str, Any]]] = {
        "ui:run": [{"run_id": run_of(people.owner).pk} for _ in range(KEPT)],
        "ui:table": [{"db": row.db, "table": row.name} for row in rows],
    }
    for view, keys in ways.items():
        costs = []
        OpenedObject.objects.all().delete()
        for second, key in enumerate(keys):
            opened(people.owner, view, key, second=second)
            titles(people.owner)  # the rights of a person are read once
            with CaptureQueriesContext(connection) as asked:
                assert len(titles(people.owner)) == second + 1
            costs.append(len(asked))
        assert set(costs) == {2}, view
