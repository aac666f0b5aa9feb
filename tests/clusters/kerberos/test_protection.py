"""A cluster that signs or encrypts what goes over the wire: the portal's clients do it too."""

from pathlib import Path

import pytest
from pymetastore.hive_metastore import ttypes

from portal.connectors.filesystem import open_file_system
from portal.connectors.kerberos.settings import CONFIGURATION
from portal.connectors.metastore import Metastore
from stack.kerberized_stack import KerberizedStack


@pytest.mark.parametrize("protection", ["integrity", "privacy"])
def test_calls_and_data_are_protected_as_the_cluster_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protection: str
) -> None:
    monkeypatch.delenv(CONFIGURATION, raising=False)
    with KerberizedStack.secured(tmp_path, protection=protection) as stack:
        config = stack.config()
        place = config.path("/user/protected")
        fs = open_file_system(place, config=config)
        fs.make_directory(place, mode=0o755)
        fs.write_new(place.child("file"), b"x" * 200_000)
        assert fs.read(place.child("file")) == b"x" * 200_000
        parameters = {"LEVEL": "1", "TTL": "60"} | {f"p{n}": "x" * 3000 for n in range(100)}
        with Metastore.connect(config) as metastore:
            metastore.create_database(
                ttypes.Database(
                    name="protected",
                    description="",
                    locationUri=str(place),
                    parameters=parameters,
                )
            )
            assert metastore.database("protected").parameters == parameters
