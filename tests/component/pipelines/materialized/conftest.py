"""A metastore with tables that can be materialized."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from portal.connectors.lake_config import LakeConfig
from tests.support.materialized_lake import MaterializedLake, materialized_lake


@pytest.fixture
def hive(lake: LakeConfig, settings: Settings) -> Iterator[MaterializedLake]:
    with materialized_lake(lake, Path(settings.LAKEWARDEN_LAKES)) as served_lake:
        yield served_lake
