"""As whom the portal logs in to a secured lake, and where the key for it is."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from portal.lake.errors import ExternalFailure

CONFIGURATION = "KRB5_CONFIG"
SHARED = "spark.authenticate.secret"
_OTHERS = 0o077
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Kerberos:
    """The `kerberos` of a lake in lakes.json."""

    principal: str
    """As whom the portal and its jobs log in: `lakewarden@EXAMPLE.COM`."""
    keytab: str
    """The 0600 file with that principal's key."""
    metastore_principal: str
    """The metastore's own: `hive/_HOST@EXAMPLE.COM`; _HOST stands for `thrift_host`."""
    krb5_conf: str = ""
    """The realm's configuration; empty: what the system has (/etc/krb5.conf)."""

    def __post_init__(self) -> None:
        """Refuse names without a realm: each library would complete them its own way."""
        for name in ("principal", "metastore_principal"):
            if getattr(self, name).count("@") != 1:
                raise TypeError(f"kerberos.{name} must be a name with a realm, a@EXAMPLE.COM")
        if "/" not in self.metastore_principal:
            raise TypeError("kerberos.metastore_principal must have a host, hive/_HOST@EXAMPLE.COM")

    @property
    def user(self) -> str:
        """The short name that most sites' rules make of the principal."""
        return self.principal.split("@")[0].split("/")[0]

    @property
    def cache(self) -> str:
        """Where this process keeps its tickets: in memory, apart from those of other keytabs."""
        return f"MEMORY:{self.principal}:{self.keytab}"

    @property
    def ticket_service(self) -> str:
        """The service of the KDC that gives tickets for all others."""
        realm = self.principal.rpartition("@")[2]
        return f"krbtgt/{realm}@{realm}"

    def service_principal(self, host: str) -> str:
        """Return the metastore's principal on a host."""
        return self.metastore_principal.replace("_HOST", host.lower())

    def check_master(self, master: str, *, properties_file: str, lake: str) -> None:
        """Refuse a master where a lake's programs could not log in, or would do it unsafely.

        Raises:
            ExternalFailure: `kerberos.kubernetes`, in both modes; `kerberos.standalone`, tokens
                would go to executors in clear text.
        """
        if master.startswith("k8s://"):
            # In cluster mode Spark needs a right on secrets that the portal has not, and a driver
            # looks for the keytab at its path on the portal's host; in client mode tokens go to
            # executors as on a standalone master, into pods without the realm's configuration.
            raise ExternalFailure(
                "kerberos.kubernetes",
                f"The lake '{lake}' has Kerberos, and programs of such a lake cannot run on "
                f"Kubernetes ({master}): pods get neither the keytab nor the realm's "
                "configuration. Set spark_master in lakes.json to yarn, to a standalone master "
                "with spark_properties_file, or to local[*].",
                service="spark",
                retryable=False,
                principal=self.principal,
            )
        if not master.startswith("spark://"):
            return
        if problem := _problem_of(properties_file):
            raise ExternalFailure(
                "kerberos.standalone",
                f"Executors of the standalone master {master} get tokens for {self.principal}, "
                f"which must be encrypted on the way: {problem}. Name a 0600 file with the "
                f"master's {SHARED} as spark_properties_file in lakes.json.",
                service="spark",
                retryable=False,
                principal=self.principal,
            )

    def make_known(self) -> None:
        """Let the Kerberos library find the realm, and check the key's file; twice is harmless.

        Raises:
            ExternalFailure: `kerberos.keytab_file`, where the keytab is missing or open to others.
        """
        self._check_keytab()
        if not self.krb5_conf:
            return
        with _lock:
            known = [name for name in os.environ.get(CONFIGURATION, "").split(":") if name]
            if self.krb5_conf not in known:
                os.environ[CONFIGURATION] = ":".join([*known, self.krb5_conf])

    def _check_keytab(self) -> None:
        try:
            mode = Path(self.keytab).stat().st_mode
            problem = "is open to others: chmod 600" if mode & _OTHERS else ""
        except OSError as error:
            problem = f"cannot be read ({error.strerror}): check the path and its owner"
        if problem:
            raise ExternalFailure(
                "kerberos.keytab_file",
                f"The keytab {self.keytab} of {self.principal} {problem}.",
                service="kerberos",
                retryable=False,
                principal=self.principal,
            )


def _problem_of(properties_file: str) -> str:
    if not properties_file:
        return "spark_properties_file is not set"
    try:
        path = Path(properties_file)
        names = [line.split("=")[0].split()[:1] for line in path.read_text("utf-8").splitlines()]
        if path.stat().st_mode & _OTHERS:
            return f"{path} is open to others"
    except (OSError, UnicodeDecodeError) as error:
        return f"{properties_file} cannot be read ({type(error).__name__})"
    return "" if [SHARED] in names else f"{path} has no {SHARED}"
