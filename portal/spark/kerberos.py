"""How a Spark program logs in to a lake with Kerberos: settings of the submission, environment.

spark-submit logs in by the keytab before it starts anything, and Spark on YARN gives its executors
delegation tokens that it renews until the program ends. On the standalone master the product's
plug-in does both. On Kubernetes no program of such a lake is started.
"""

import os
from collections.abc import Mapping

from portal.connectors.kerberos.settings import CONFIGURATION
from portal.connectors.lake_config import LakeConfig
from portal.spark.masters.standalone import is_standalone

_JAVA_OPTIONS = (
    "spark.driver.extraJavaOptions",
    "spark.executor.extraJavaOptions",
    "spark.yarn.am.extraJavaOptions",
)


def kerberos_settings(config: LakeConfig, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that a submission has besides `settings`; none without Kerberos.

    Raises:
        ExternalFailure: `kerberos.standalone`, `kerberos.kubernetes`: not on this master.
    """
    kerberos = config.kerberos
    if kerberos is None:
        return {}
    kerberos.check_master(
        config.spark_master, properties_file=config.spark_properties_file, lake=str(config.lake)
    )
    hive = "spark.hadoop.hive.metastore"
    found = {
        "spark.kerberos.principal": kerberos.principal,
        "spark.kerberos.keytab": kerberos.keytab,
        "spark.hadoop.hadoop.security.authentication": "kerberos",
        f"{hive}.uris": config.metastore_uri,
        f"{hive}.sasl.enabled": "true",
        f"{hive}.kerberos.principal": kerberos.service_principal(config.thrift_host),
        "spark.security.credentials.hadoopfs.enabled": "true",
        "spark.security.credentials.hive.enabled": "true",
    }
    if kerberos.krb5_conf:
        # Java does not read KRB5_CONFIG.
        option = f"-Djava.security.krb5.conf={kerberos.krb5_conf}"
        found |= {name: f"{settings.get(name, '')} {option}".strip() for name in _JAVA_OPTIONS}
    return found


def kerberos_environment(config: LakeConfig) -> dict[str, str]:
    """Return what a driver's process finds its log-in by; none without Kerberos."""
    kerberos = config.kerberos
    if kerberos is None:
        return {}
    kerberos.make_known()
    found = {
        # The job reads its request before it knows the lake, so by the library's own variables.
        "KRB5CCNAME": kerberos.cache,
        "KRB5_CLIENT_KTNAME": f"FILE:{kerberos.keytab}",
    }
    if is_standalone(config):
        # spark-submit does not log in there, and Spark takes the user's name before plug-ins do.
        found["SPARK_USER"] = kerberos.user
    if CONFIGURATION in os.environ:
        found[CONFIGURATION] = os.environ[CONFIGURATION]
    if kerberos.krb5_conf:
        # Where the driver runs elsewhere, its options are not those of spark-submit itself.
        found["SPARK_SUBMIT_OPTS"] = f"-Djava.security.krb5.conf={kerberos.krb5_conf}"
    return found
