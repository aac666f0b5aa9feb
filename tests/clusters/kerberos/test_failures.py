"""What the portal says when Kerberos refuses it: who, with which service, and what to do."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.spark.masters.refusals import service_refused_in
from stack.kerberized_stack import KerberizedStack
from stack.servers.kdc import HOST, REALM
from tests.support.scan_lake import run_scan

_ASK = """
import sys
import django
django.setup()
from tests.clusters.kerberos.test_failures import ask_both
from portal.connectors.lake_config import load_lakes
from pathlib import Path
for code in ask_both(load_lakes(Path(sys.argv[1]))["main"]):
    print("code", code)
"""


def ask_both(config: LakeConfig) -> list[str]:
    """Return the codes of the failures of metastore and HDFS; of one that is not whole its words.

    Whole is what names the principal, the service and the next step.
    """
    asked = ((_ask_metastore, f"hive/{HOST}@{REALM}"), (_ask_hdfs, f"hdfs/{HOST}@{REALM}"))
    return [_failure_of(ask, config, service) for ask, service in asked]


def _failure_of(ask: Callable[[LakeConfig], None], config: LakeConfig, service: str) -> str:
    assert config.kerberos is not None
    try:
        ask(config)
    except ExternalFailure as error:
        words = f"refused {config.kerberos.principal} for {service}"
        is_whole = words in error.message and "What to do: " in error.message
        return error.code if is_whole else error.message
    return "ok"


def _ask_metastore(config: LakeConfig) -> None:
    with Metastore.connect(config) as metastore:
        metastore.databases()


def _ask_hdfs(config: LakeConfig) -> None:
    open_file_system(config.path("/"), config=config).names(config.path("/"))


@contextmanager
def _new_person(secured: KerberizedStack, name: str, *, key_of: str = "") -> Iterator[LakeConfig]:
    """A principal that no test has used, with a keytab that was exported or another's one."""
    keytab = secured.kdc.keytab(name)
    secured.kdc.administer(
        f"addprinc -randkey +requires_preauth {name}", f"ktadd -k {keytab} {name}"
    )
    config = secured.config_of(name)
    if key_of:
        assert config.kerberos is not None
        other = str(secured.kdc.keytab(key_of))
        config = replace(config, kerberos=replace(config.kerberos, keytab=other))
    yield config
    secured.kdc.administer(f"delprinc -force {name}")
    keytab.unlink()


def test_without_a_kdc_the_realm_is_named(secured: KerberizedStack) -> None:
    with _new_person(secured, "carol") as config:
        secured.kdc.stop()
        try:
            assert ask_both(config) == ["kerberos.kdc_unreachable"] * 2
        finally:
            secured.kdc.start()
            secured.kdc.wait_ready()
        assert ask_both(config) == ["ok", "ok"]


def test_another_ones_keytab_is_named(secured: KerberizedStack) -> None:
    with _new_person(secured, "dave", key_of="alice") as config:
        assert ask_both(config) == ["kerberos.keytab"] * 2


def test_a_keytab_from_before_the_key_changed_is_named(secured: KerberizedStack) -> None:
    with _new_person(secured, "erin") as config:
        secured.kdc.administer("cpw -randkey erin")
        assert ask_both(config) == ["kerberos.keytab"] * 2


@pytest.mark.parametrize("date", ["expire", "pwexpire"])
def test_a_principal_that_has_expired_is_named_until_it_is_extended(
    secured: KerberizedStack, date: str
) -> None:
    with _new_person(secured, f"grace{date}") as config:
        assert config.kerberos is not None
        name = config.kerberos.user
        secured.kdc.administer(f'modprinc -{date} "2020-01-01" {name}')
        assert ask_both(config) == ["kerberos.expired"] * 2
        secured.kdc.administer(f"modprinc -{date} never {name}")
        assert ask_both(config) == ["ok", "ok"]


def test_a_keytab_that_others_can_read_is_not_used(secured: KerberizedStack) -> None:
    with _new_person(secured, "frank") as config:
        secured.kdc.keytab("frank").chmod(0o640)
        with pytest.raises(ExternalFailure, match="chmod 600") as found:
            _ask_metastore(config)
        assert found.value.code == "kerberos.keytab_file"


def test_a_service_that_the_kdc_does_not_know_is_named(secured: KerberizedStack) -> None:
    config = secured.config()
    assert config.kerberos is not None
    wrong = replace(config.kerberos, metastore_principal=f"hive/elsewhere@{REALM}")
    with pytest.raises(ExternalFailure, match=f"hive/elsewhere@{REALM}") as found:
        _ask_metastore(replace(config, kerberos=wrong))
    assert found.value.code == "kerberos.service"
    other = replace(config.kerberos, metastore_principal=f"hdfs/_HOST@{REALM}")
    with pytest.raises(ExternalFailure, match=f"hdfs/localhost@{REALM}") as found:
        _ask_metastore(replace(config, kerberos=other))
    assert found.value.code == "kerberos.service_refused"


def test_a_driver_that_expects_another_name_node_says_so(
    secured: KerberizedStack, tmp_path: Path
) -> None:
    config = secured.config()
    named = {"dfs.namenode.kerberos.principal": f"nn/_HOST@{REALM}"}
    wrong = replace(config, hadoop_conf={**config.hadoop_conf, **named})
    done = run_scan(wrong, {"template": "/user/{owner}"}, log_file=tmp_path / "scan.log")
    found = service_refused_in([done.manifest["error"]["message"]])
    assert found is not None
    assert found.code == "kerberos.server_principal"
    for name in (f"hdfs/{HOST}@{REALM}", f"nn/{HOST}@{REALM}"):
        assert name in found.message


def test_clocks_that_differ_by_ten_minutes_are_named(secured: KerberizedStack) -> None:
    done = subprocess.run(
        ["faketime", "-f", "+10m", sys.executable, "-c", _ASK, str(secured.lakes_file)],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings.test"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.splitlines() == ["code kerberos.clock"] * 2, done.stdout + done.stderr
