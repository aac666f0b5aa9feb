"""Processes that live longer than their tickets go on without being started again."""

import time
from dataclasses import replace

from portal.connectors.filesystem import open_file_system
from portal.connectors.kerberos.tickets import seconds_left
from portal.connectors.metastore import Metastore
from stack.kerberized_stack import KerberizedStack

_LIFE = 30


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
