"""Writes the configuration files of Hadoop that spark-submit needs for YARN and for Kerberos."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from portal.connectors.lake_config import LakeConfig

# A property counts only in the file that its clients read after their own defaults.
_FILES = {"yarn.": "yarn-site.xml", "dfs.": "hdfs-site.xml"}
_CORE = "core-site.xml"


def write_hadoop_conf(config: LakeConfig, folder: Path) -> Path | None:
    """Write a lake's Hadoop properties as files below a folder; None where the lake has none.

    The directory is named by its content, so that runs share it and none changes beneath a run.
    """
    if not config.hadoop_conf:
        return None
    properties = {"fs.defaultFS": config.default_fs, **config.hadoop_conf}
    digest = hashlib.sha256(repr(sorted(properties.items())).encode()).hexdigest()
    directory = folder / f"hadoop-conf-{digest[:16]}"
    write_hadoop_files(_by_file(properties), directory)
    return directory


def write_hadoop_files(files: Mapping[str, Mapping[str, str]], directory: Path) -> None:
    """Write the properties of each file, for this account alone; other files stay."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, rows in files.items():
        fresh = directory / f".{name}"
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
