"""Chooses what a submission to Spark's standalone master needs where it asks for a secret.

The secret is shared by the master, its workers and all programs. It is read by spark-submit from a
file, so that no list of processes shows it.
"""

from collections.abc import Mapping
from pathlib import Path

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure

_OTHERS = 0o077
_PLUGINS = "spark.plugins"
_TOKENS = "lakewarden.spark.tokens.TokensPlugin"


def is_standalone(config: LakeConfig) -> bool:
    """Whether a lake's programs run on Spark's standalone master."""
    return config.spark_master.startswith("spark://")


def standalone_settings(config: LakeConfig, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a submission besides `settings`; none where there is no secret.

    Calls of Spark are encrypted, or refused: delegation tokens go to executors by them.
    """
    if not (is_standalone(config) and config.spark_properties_file):
        return {}
    found = {
        "spark.authenticate": "true",
        "spark.network.crypto.enabled": "true",
        "spark.network.crypto.saslFallback": "false",
    }
    if config.kerberos is not None:
        own = settings.get(_PLUGINS, "")
        found[_PLUGINS] = f"{own},{_TOKENS}" if own else _TOKENS
    return found


def properties_arguments(config: LakeConfig) -> list[str]:
    """Return the arguments by which spark-submit reads the lake's file of properties.

    Raises:
        ExternalFailure: `config.spark_properties_file`, as of `check_properties_file`.
    """
    check_properties_file(config)
    file = config.spark_properties_file
    return ["--properties-file", file] if file else []


def check_properties_file(config: LakeConfig) -> None:
    """Refuse a file of properties that is not there, or that others than its owner may read.

    Raises:
        ExternalFailure: `config.spark_properties_file`.
    """
    if not config.spark_properties_file:
        return
    path, problem = Path(config.spark_properties_file), ""
    try:
        with path.open("rb"):
            if path.stat().st_mode & _OTHERS:
                problem = "is open to others: chmod 600"
    except OSError as error:
        problem = f"cannot be read ({error.strerror}): check the path and its owner"
    if problem:
        raise ExternalFailure(
            "config.spark_properties_file",
            f"The file {path} that spark_properties_file of lakes.json names {problem}. It is for "
            "properties that nobody else may see.",
            service="config",
            retryable=False,
        )
