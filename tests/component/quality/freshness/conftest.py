"""A metastore whose partitions have flags."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from portal.connectors.lake_config import LakeConfig
from tests.component.quality.flag_lake import FlagLake
from tests.support.thrift_lake import served


@pytest.fixture
def hive(lake: LakeConfig, tmp_path: Path, settings: Settings) -> Iterator[FlagLake]:
    served_lake = FlagLake(tmp_path)
    with served(served_lake) as port:
        there = replace(lake, thrift_port=port)
        Path(settings.LAKEWARDEN_LAKES).write_text(json.dumps({"main": there.as_dict()}))
        yield served_lake
