"""Writes the configuration files of Hadoop that spark-submit needs for YARN and for Kerberos.

It decides by them, before it reads its settings, where YARN is and whether the cluster is secured.
"""

import hashlib
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from portal.connectors.lake_config import LakeConfig
from portal.spark.masters.settings import is_kubernetes, is_yarn

HADOOP_CONFIGURATION = "HADOOP_CONF_DIR"
# A property counts only in the file that its clients read after their own defaults.
_FILES = {"yarn.": "yarn-site.xml", "dfs.": "hdfs-site.xml"}
_CORE = "core-site.xml"


def hadoop_environment(config: LakeConfig, folder: Path) -> dict[str, str]:
    """Return where a submission finds Hadoop's files, written below a folder; empty: the host's.

    What a lake says of its cluster holds on YARN and Kubernetes, also where the host has files.
    """
    if reads_host_files(config):
        return {}
    return {HADOOP_CONFIGURATION: str(write_hadoop_conf(config, folder))}


def reads_host_files(config: LakeConfig) -> bool:
    """Whether a submission finds Hadoop's files where the host has them, if it has any."""
    is_told = bool(config.hadoop_conf) and (is_yarn(config) or is_kubernetes(config))
    is_secured = config.kerberos is not None and HADOOP_CONFIGURATION not in os.environ
    return not is_told and not is_secured


def write_hadoop_conf(config: LakeConfig, folder: Path) -> Path:
    """Write all that a lake says of Hadoop, its log-in included, as files below a folder.

    The directory is named by its content, so that runs share it and none changes beneath a run.
    """
    secured = {"hadoop.security.authentication": "kerberos"} if config.kerberos else {}
    properties = {"fs.defaultFS": config.default_fs, **secured, **config.hadoop_conf}
    digest = hashlib.sha256(repr(sorted(properties.items())).encode()).hexdigest()
    directory = folder / f"hadoop-conf-{digest[:16]}"
    _write_files(_by_file(properties), directory)
    return directory


def _write_files(files: Mapping[str, Mapping[str, str]], directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, rows in files.items():
        if (directory / name).exists():
            continue  # the directory's name says what is in it
        # Others may write the same at this moment.
        fresh = directory / f".{name}.{uuid.uuid4().hex}"
        fresh.touch(mode=0o600)
        fresh.write_text(_xml(rows), encoding="utf-8")
        fresh.replace(directory / name)


def _by_file(properties: Mapping[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {_CORE: {}, **{name: {} for name in _FILES.values()}}
    for name, value in sorted(properties.items()):
        file = next((file for start, file in _FILES.items() if name.startswith(start)), _CORE)
        found[file][name] = value
    return found


def _xml(properties: Mapping[str, str]) -> str:
    rows = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in properties.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{rows}</configuration>\n'
