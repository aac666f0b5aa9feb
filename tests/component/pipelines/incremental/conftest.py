"""A metastore with the sources of layers."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.pipelines.incremental.layered import LayerLake
from tests.support.thrift_lake import served


@pytest.fixture
def hive(
    lake: LakeConfig, tmp_path: Path, settings: Settings, people: People
) -> Iterator[LayerLake]:
    found = LayerLake(tmp_path)
    with served(found) as port:
        there = replace(lake, thrift_port=port)
        Path(settings.LAKEWARDEN_LAKES).write_text(json.dumps({"main": there.as_dict()}))
        yield found
