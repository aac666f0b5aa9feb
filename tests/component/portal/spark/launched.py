"""What spark-submit is told, without starting it."""

from pathlib import Path

from portal.connectors.lake_config import LakeConfig
from portal.spark.launch import submit_argv


def said_of(setting: str, config: LakeConfig) -> list[str]:
    """Return what a submission says of one setting, as `setting=value`."""
    argv = submit_argv(module="m", tag="t", spool="s", config=config, log_file=Path("log"))
    return [one for one in argv if one.startswith(setting)]
