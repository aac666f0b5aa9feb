"""Processes that live longer than their tickets go on without being started again."""

import time
import uuid
from dataclasses import replace
from pathlib import Path

from portal.connectors.filesystem import open_file_system
from portal.connectors.kerberos.tickets import seconds_left
from portal.connectors.metastore import Metastore
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


def test_a_spark_program_writes_on_after_its_ticket_has_ended(
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
    assert program.output(timeout=300).splitlines()[-3:] == [
        f"{db}.plain [1, 2]",
        f"{ICEBERG}.{db}.iceberg [1, 2]",
        f"{db}.hudi [1, 2]",
    ]
    fs = open_file_system(location, config=config)
    assert {found.owner for found in fs.walk(location)} == {"ivy"}
    said = secured.kdc.process.said().splitlines()
    log_ins = [line for line in said if "AS_REQ" in line and "ISSUE" in line and "ivy@" in line]
    assert len(log_ins) >= 2
