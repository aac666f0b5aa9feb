"""Keeps what a run was submitted with, so that changes of lakes.json do not lose its application.

Only what tells where an application is, and as whom it is asked after. Addresses of file systems
and passwords are those of today: they change while the application stays where it is.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from portal.access.lakes import get_lake
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.spark.masters.settings import DEFAULT_NAMESPACE, DEPLOY_MODE, NAMESPACE, mode_of

_HADOOP = "yarn."


def submission_of(config: LakeConfig) -> dict[str, Any]:
    """Return what a run that is submitted now has to keep of its lake's settings."""
    return {
        "spark_master": config.spark_master,
        "deploy_mode": mode_of(config),
        "hadoop_user": config.hadoop_user,
        "hadoop_conf": _where(config.hadoop_conf),
        "namespace": config.spark_conf.get(NAMESPACE),
    }


def lake_of(run: Run) -> LakeConfig:
    """Return the lake of a run with the master and the mode that it was submitted with.

    One that was submitted by an older release has kept none: today's settings count.
    """
    config = get_lake(run.lake)
    kept = run.submission
    if not kept:
        return config
    of_today = {
        name: value for name, value in config.hadoop_conf.items() if not name.startswith(_HADOOP)
    }
    found = replace(
        config,
        spark_master=kept["spark_master"],
        hadoop_user=kept["hadoop_user"],
        hadoop_conf={**of_today, **kept["hadoop_conf"]},
    )
    conf = dict(found.spark_conf)
    if mode_of(found) != kept["deploy_mode"]:
        conf[DEPLOY_MODE] = kept["deploy_mode"]
    if kept["namespace"] != conf.get(NAMESPACE):
        conf[NAMESPACE] = kept["namespace"] or DEFAULT_NAMESPACE
    return replace(found, spark_conf=conf)


def _where(properties: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in properties.items() if name.startswith(_HADOOP)}
