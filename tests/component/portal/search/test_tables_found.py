"""Tables and databases are found by parts of their names, and only those that one may see."""

from datetime import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.access.models import DatabaseAdministrator
from portal.catalog.models import Table
from portal.search.models import DatabaseWord, IndexedTable, TableWord, Word, WordKey
from portal.search.services.index import index_catch_up
from tests.component.conftest import People
from tests.component.portal.search.found import LAKE, catalogued, databases, found

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shop(now: datetime) -> None:
    """A few tables."""
    catalogued(
        "sales.clicks_live",
        "sales.orders",
        "sales.customers_daily",
        "web.clicks",
        "web.clicks_archive_2024",
        "web.pageViewsRaw",
        "finance.live_rates",
        "数据仓库.销售数据",
        now=now,
    )


@pytest.mark.parametrize(
    "text",
    ["live", "clik", "sales.clik", "clickslive", "clicks_live", "CLICKS live", "sal cli", "clciks"],
)
def test_a_table_is_found_by_parts_of_its_name_and_in_spite_of_a_typo(
    people: People, text: str
) -> None:
    assert "sales.clicks_live" in found(people.admin, text)


def test_the_whole_name_comes_first(people: People) -> None:
    assert found(people.admin, "clicks")[0] == "web.clicks"
    assert found(people.admin, "web.clicks")[0] == "web.clicks"
    assert found(people.admin, "live")[0] == "finance.live_rates"
    assert found(people.admin, "clicks 2024") == ["web.clicks_archive_2024"]


def test_names_of_any_alphabet_are_found(people: People) -> None:
    assert found(people.admin, "数据") == ["数据仓库.销售数据"]
    assert found(people.admin, "据") == ["数据仓库.销售数据"]
    assert found(people.admin, "售数") == ["数据仓库.销售数据"]
    assert found(people.admin, "数据仓库.销售") == ["数据仓库.销售数据"]
    assert found(people.admin, "pageviews") == ["web.pageViewsRaw"]
    assert found(people.admin, "\uff43\uff4cicks\u3000\uff12024") == ["web.clicks_archive_2024"]


def test_the_words_of_a_database_help_but_are_not_enough(people: People) -> None:
    assert found(people.admin, "sales orders") == ["sales.orders"]
    assert found(people.admin, "sales") == []
    assert databases(people.admin, "sales") == ["sales"]
    assert databases(people.admin, "saels") == ["sales"]
    assert databases(people.admin, "fincance") == ["finance"]
    assert set(found(people.admin, "sales.")) == {
        "sales.clicks_live",
        "sales.customers_daily",
        "sales.orders",
    }


def test_signs_of_the_query_language_mean_nothing(people: People) -> None:
    for text in ("%", "_", "cl%ks", "cli_ks", "'; --", "\\", "*"):
        assert found(people.admin, text) in ([], found(people.admin, text.replace("%", " "))), text
    assert found(people.admin, "%") == []
    assert found(people.admin, "_") == []


def test_only_what_a_person_may_see_is_found(people: People, now: datetime) -> None:
    assert "sales.orders" in found(people.owner, "orders")
    assert found(people.stranger, "orders") == []
    assert databases(people.stranger, "sales") == []
    DatabaseAdministrator.objects.create(lake=LAKE, db="sales", username=people.dba.username)
    assert found(people.dba, "clicks") == ["sales.clicks_live"]
    assert databases(people.dba, "web") == []


def test_a_table_is_found_by_its_new_name_and_no_more_by_its_old(
    people: People, now: datetime
) -> None:
    Table.objects.filter(name="orders").update(name="purchases")
    assert index_catch_up(LAKE, now=now) == 1
    assert found(people.admin, "purchases") == ["sales.purchases"]
    assert found(people.admin, "orders") == []
    assert not Word.objects.filter(text="orders").exists()


def test_a_deleted_table_is_not_found_and_leaves_nothing(people: People, now: datetime) -> None:
    gone = Table.objects.filter(db="finance")
    gone.update(is_living=None, deleted_at=now)
    assert found(people.admin, "rates") == []
    assert databases(people.admin, "finance") == []
    assert index_catch_up(LAKE, now=now) == 1
    assert not Word.objects.filter(text__in=["rates", "finance"]).exists()
    assert Word.objects.filter(text="live").exists()
    assert found(people.admin, "live") == ["sales.clicks_live"]


def test_caught_up_again_nothing_is_written(people: People, now: datetime) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert index_catch_up(LAKE, now=now) == 0
    assert len(asked) == 2
    counts = [model.objects.count() for model in (Word, WordKey, TableWord, DatabaseWord)]
    IndexedTable.objects.all().delete()
    index_catch_up(LAKE, now=now)
    assert counts == [model.objects.count() for model in (Word, WordKey, TableWord, DatabaseWord)]


def test_the_longest_names_are_taken(people: People, now: datetime) -> None:
    han = "数" + "据表" * 127 + "终"
    catalogued(f"{'d' * 128}.{'t' * 256}", f"长.{han}", now=now)
    assert found(people.admin, "t" * 256) == [f"{'d' * 128}.{'t' * 256}"]
    assert found(people.admin, han) == [f"长.{han}"]
    assert found(people.admin, "终") == [f"长.{han}"]


def test_a_table_is_found_however_many_databases_share_a_word(
    people: People, now: datetime
) -> None:
    subjects = [
        f"{first}{second}{last}" for first in "abcd" for second in "efgh" for last in "ijkl"
    ]
    catalogued(*(f"{subject}_dwd.{subject}_facts" for subject in subjects), now=now)
    catalogued("telemetry_dwd.facts_daily", "web.facts_daily", now=now)
    for text in ("telemetry_dwd.facts_daily", "dwd_telemetry.facts", "dwd telemetry facts daily"):
        assert found(people.admin, text)[0] == "telemetry_dwd.facts_daily", text
    assert found(people.admin, "telemetry_dwd.") == ["telemetry_dwd.facts_daily"]
    assert databases(people.admin, "telemetry_dwd") == ["telemetry_dwd"]
    assert set(found(people.admin, "dwd facts daily")) == {"telemetry_dwd.facts_daily"}


def test_a_misspelled_word_may_be_made_of_two_others(people: People, now: datetime) -> None:
    catalogued("sales.raw_budget", "web.bug", "web.det", "budget_dwd.detections", now=now)
    assert found(people.admin, "raw_bugdet") == ["sales.raw_budget"]
    assert found(people.admin, "bugdet_dwd.detections") == ["budget_dwd.detections"]
    assert databases(people.admin, "bugdet") == ["budget_dwd"]
    catalogued("web.bug_det", now=now)
    assert found(people.admin, "bugdet")[0] == "web.bug_det", "what is made of both comes first"
