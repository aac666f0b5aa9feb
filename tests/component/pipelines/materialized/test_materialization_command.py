"""`manage.py materialization`: what it takes is what the page takes, and what is wrong is said."""

import pytest
from django.core.management import CommandError, call_command

from pipelines.models import Materialization
from tests.component.conftest import People
from tests.support.materialized_lake import SQL, MaterializedLake

pytestmark = pytest.mark.django_db


def test_a_materialization_is_defined_once(hive: MaterializedLake, people: People) -> None:
    asked = ("materialization", "marts.days", SQL, "--user", "olga")
    for _ in range(2):
        call_command(*asked, "--every", "60", "--max-lag", "120")
    row = Materialization.objects.get()
    assert (str(row), row.owner, row.source) == ("marts.days", "olga", "shop.orders")
    assert (row.every_minutes, row.max_lag_minutes) == (60, 120)


@pytest.mark.parametrize(
    ("user", "sql", "said"),
    [
        ("nobody", SQL, "no user nobody"),
        ("olga", f"{SQL} HAVING count(*) > 1", "materialized.definition: HAVING"),
        ("stan", SQL, "materialized.source"),
    ],
)
def test_what_is_wrong_is_said(
    hive: MaterializedLake, people: People, user: str, sql: str, said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("materialization", "marts.days", sql, "--user", user)
    assert not Materialization.objects.exists()
