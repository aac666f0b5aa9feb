"""The portal's own connections to a secured metastore and HDFS."""

import uuid

import pytest
from pymetastore.hive_metastore import ttypes

from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from stack.kerberized_stack import KerberizedStack


def test_files_belong_to_whoever_logged_in(secured: KerberizedStack) -> None:
    for name in ("lakewarden", "alice"):
        config = secured.config_of(name)
        place = config.path(f"/user/{name} {uuid.uuid4().hex}")
        fs = open_file_system(place, config=config)
        fs.make_directory(place, mode=0o700)
        fs.write_new(place.child("file"), b"x" * 100_000)
        assert fs.read(place.child("file")) == b"x" * 100_000
        assert [found.owner for found in fs.children(place)] == [name]


def test_hdfs_refuses_what_the_name_may_not(secured: KerberizedStack) -> None:
    config = secured.config_of("alice")
    place = config.path("/lakewarden/spool/alice")
    fs = open_file_system(place, config=config)
    with pytest.raises(ExternalFailure, match="user=alice"):
        fs.make_directory(place, mode=0o700)


def test_the_metastore_acts_in_the_name_of_whoever_logged_in(secured: KerberizedStack) -> None:
    db = f"named_{uuid.uuid4().hex[:8]}"
    config = secured.config_of("alice")
    place = config.path(f"/user/{db}")
    with Metastore.connect(config) as metastore:
        metastore.create_database(
            ttypes.Database(
                name=db,
                description="",
                locationUri=str(place),
                parameters={"LEVEL": "1", "TTL": "60"},
            )
        )
        assert db in metastore.databases()
    found = open_file_system(place, config=config).status(place)
    assert found is not None
    assert found.owner == "alice"


def test_a_long_request_goes_in_many_frames(secured: KerberizedStack) -> None:
    db = f"long_{uuid.uuid4().hex[:8]}"
    config = secured.config_of("alice")
    parameters = {"LEVEL": "1", "TTL": "60"} | {f"p{n}": "x" * 3000 for n in range(100)}
    with Metastore.connect(config) as metastore:
        metastore.create_database(
            ttypes.Database(
                name=db,
                description="",
                locationUri=str(config.path(f"/user/{db}")),
                parameters=parameters,
            )
        )
        assert metastore.database(db).parameters == parameters
