"""Tests the home page's picture of the health of Iceberg and Hudi tables."""

import pytest

from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.component.optimizer.iceberg.looked_tables import iceberg_table
from tests.component.portal.ui.test_home_pictures import client_of, picture, table_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_tables_are_counted_by_format_and_health(people: People, lake: LakeConfig) -> None:
    for name, health in (("a", 10.0), ("b", 95.0), ("c", 96.0), ("d", None)):
        iceberg_table(name, health=health)
    iceberg_table("e", health=5.0, is_deleted=True)
    hudi(health=20.0)
    rows = table_of(picture(client_of(people.admin), "file-health"))
    assert rows == {
        "poor": ["1", "1"],
        "fair": ["0", "0"],
        "good": ["2", "0"],
        "unknown": ["1", "0"],
    }
    assert table_of(picture(client_of(people.stranger), "file-health")) == {}
