"""How a driver reaches its spool before it has read the lake's settings, which lie there."""

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.lake_config import LakeConfig
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.paths import LakePath
from portal.spark.spool import Spool

# What Spark on YARN puts beside a driver, of which its own keytab is a file, too.
_SHIPPED = Path("__spark_conf__", "__spark_conf__.properties")
_KEYTAB = "spark.kerberos.keytab="
_TOKENS = "HADOOP_TOKEN_FILE_LOCATION"


def spool_access(config: LakeConfig) -> list[str]:
    """Return the driver's argument for `open_spool`; none where nothing has to be said.

    It is base64 of JSON: YARN takes `{{` and `}}` in a command for its own, and removes them.
    """
    said: dict[str, Any] = {}
    if config.hadoop_conf:
        said["hadoop_conf"] = config.hadoop_conf
    if config.kerberos is not None:
        said["kerberos"] = asdict(config.kerberos)
    return [base64.urlsafe_b64encode(json.dumps(said).encode()).decode()] if said else []


def open_spool(address: str, access: str = "") -> Spool:
    """Open a run's spool in its driver, logged in by the keytab if the lake has Kerberos."""
    root = LakePath.parse(address)
    said = json.loads(base64.urlsafe_b64decode(access)) if access else {}
    if root.scheme != "hdfs":
        return Spool(LocalFileSystem(), root)
    settings: Mapping[str, str] = said.get("hadoop_conf", {})
    kerberos = None
    if "kerberos" in said:
        kerberos = _with_shipped_keytab(Kerberos(**said["kerberos"]))
        # Tokens of the beginning would be taken first, and nothing renews them outside the JVM.
        os.environ.pop(_TOKENS, None)
    fs = HdfsFileSystem(root.authority, settings=settings, kerberos=kerberos)
    return Spool(fs, root)


def _with_shipped_keytab(kerberos: Kerberos) -> Kerberos:
    """Return the log-in with the keytab that Spark has put beside this driver, if it has."""
    if not _SHIPPED.is_file():
        return kerberos
    lines = _SHIPPED.read_text(encoding="utf-8").splitlines()
    named = [line.removeprefix(_KEYTAB) for line in lines if line.startswith(_KEYTAB)]
    return replace(kerberos, keytab=named[0]) if named else kerberos
