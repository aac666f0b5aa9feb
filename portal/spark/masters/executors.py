"""Says whether the portal's own clients may work on executors, beside Spark's."""

from portal.connectors.lake_config import LakeConfig
from portal.spark.masters.settings import is_local


def can_log_in(config: LakeConfig) -> bool:
    """Whether an executor's Python can open the lake's files.

    On a cluster with Kerberos it cannot: the keytab stays with the driver, and the tokens of an
    executor are in its JVM.
    """
    return config.kerberos is None or is_local(config)
