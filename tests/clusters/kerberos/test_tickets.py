"""Processes that live longer than their tickets go on without being started again."""

import shutil
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.filesystem import open_file_system
from portal.connectors.kerberos.tickets import seconds_left
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from stack.kerberized_stack import KerberizedStack
from stack.lake.session import ICEBERG
from tests.clusters.kerberos.conftest import LONG_WRITER
from tests.clusters.programs import Program, table_settings

_LIFE = 30
# Hadoop logs in again at most once a minute.
_PROGRAMS_LIFE = 65


def test_connections_are_made_after_the_first_ticket_has_ended(secured: KerberizedStack) -> None:
    secured.kdc.administer(
        f"addprinc -randkey +requires_preauth -maxlife {_LIFE}s harry",
        f"ktadd -k {secured.kdc.keytab('harry')} harry",
    )
    config = secured.config_of("harry")
    assert config.kerberos is not None
    assert 0 < seconds_left(config.kerberos) <= _LIFE
    root = config.path("/user")
    fs = open_file_system(root, config=config)
    fs.names(root)
    with Metastore.connect(config) as first:
        time.sleep(_LIFE + 2)
        first.databases()  # what is open stays open
        with Metastore.connect(config) as second:
            second.databases()
    fs.names(root)
    # Another client makes a connection of its own.
    other = replace(config, hadoop_conf={**config.hadoop_conf, "of.another": "client"})
    open_file_system(root, config=other).names(root)
    assert _LIFE / 2 < seconds_left(config.kerberos) <= _LIFE


def test_a_key_is_changed_beneath_a_process_that_goes_on(secured: KerberizedStack) -> None:
    secured.kdc.administer(
        f"addprinc -randkey +requires_preauth -maxlife {_LIFE}s kim",
        f"ktadd -k {secured.kdc.keytab('kim')} kim",
    )
    config = secured.config_of("kim")
    assert config.kerberos is not None
    began = time.monotonic()
    _connect_anew(config, "first key")
    old = _change_key(secured, "kim")
    # A ticket that cannot be renewed yet is used until it ends.
    _wait_until(began + _LIFE / 2 + 2)
    _connect_anew(config, "between the keys")
    _put_in_place(secured, "kim")
    _wait_until(began + _LIFE + 2)
    _connect_anew(config, "second key")
    assert _LIFE / 2 < seconds_left(config.kerberos) <= _LIFE
    with pytest.raises(ExternalFailure) as found:
        seconds_left(replace(config.kerberos, keytab=str(old)))
    assert found.value.code == "kerberos.keytab"


def _connect_anew(config: LakeConfig, occasion: str) -> None:
    """Make a connection to the metastore, and one of a new client to HDFS."""
    with Metastore.connect(config) as metastore:
        metastore.databases()
    root = config.path("/user")
    anew = replace(config, hadoop_conf={**config.hadoop_conf, "of.another": occasion})
    open_file_system(root, config=anew).names(root)


def _change_key(secured: KerberizedStack, name: str) -> Path:
    """Export a new key of a principal beside the keytab in use; returns a copy of the former."""
    keytab = secured.kdc.keytab(name)
    former = keytab.with_suffix(".former")
    shutil.copy2(keytab, former)
    secured.kdc.administer(f"ktadd -k {_fresh(keytab)} {name}")
    return former


def _put_in_place(secured: KerberizedStack, name: str) -> None:
    keytab = secured.kdc.keytab(name)
    _fresh(keytab).rename(keytab)


def _fresh(keytab: Path) -> Path:
    return keytab.with_suffix(".new")


def _wait_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def test_a_spark_program_writes_on_after_its_ticket_and_its_key_have_ended(
    secured: KerberizedStack, tmp_path: Path
) -> None:
    secured.kdc.administer(
        f"addprinc -randkey +requires_preauth -maxlife {_PROGRAMS_LIFE}s ivy",
        f"ktadd -k {secured.kdc.keytab('ivy')} ivy",
    )
    config = secured.config_of("ivy")
    db = f"long_{uuid.uuid4().hex[:8]}"
    location = config.path(f"/user/{db}")
    program = Program.submit(
        config,
        table_settings(config),
        *(LONG_WRITER, db, str(location), str(_PROGRAMS_LIFE + 15)),
        folder=tmp_path / "program",
    )
    _wait_for(location, secured.config(), timeout=120)
    n_before = len(_log_ins(secured, "ivy"))
    _change_key(secured, "ivy")
    _put_in_place(secured, "ivy")
    assert program.output(timeout=300).splitlines()[-3:] == [
        f"{db}.plain [1, 2]",
        f"{ICEBERG}.{db}.iceberg [1, 2]",
        f"{db}.hudi [1, 2]",
    ]
    assert n_before >= 1
    assert len(_log_ins(secured, "ivy")) > n_before
    fs = open_file_system(location, config=config)
    assert {found.owner for found in fs.walk(location)} == {"ivy"}


def _wait_for(place: LakePath, config: LakeConfig, *, timeout: float) -> None:
    fs = open_file_system(place, config=config)
    end = time.monotonic() + timeout
    while fs.status(place) is None:
        assert time.monotonic() < end, f"{place} is not there"
        time.sleep(0.5)


def _log_ins(secured: KerberizedStack, name: str) -> list[str]:
    said = secured.kdc.process.said().splitlines()
    return [line for line in said if "AS_REQ" in line and "ISSUE" in line and f"{name}@" in line]
