"""A Kerberos realm on loopback: Debian's MIT KDC with database, keytabs and krb5.conf in a folder.

Host names are the word `localhost`: clients are told not to look names up, so that the service's
principal is the same for Java, MIT's library and hdfs-native.
"""

import os
import secrets
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from stack.errors import StackError
from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.base import Server

REALM = "LAKEWARDEN.TEST"
HOST = "localhost"
SERVICES = tuple(f"{name}/{HOST}" for name in ("hdfs", "HTTP", "hive", "yarn"))
PEOPLE = ("lakewarden", "alice", "bob", "eve", "etl", "steward")
# faketime is for clients whose clocks differ from the KDC's.
PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "faketime")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


class Kdc(Server):
    """Gives tickets for `PEOPLE` and `SERVICES`, whose keytabs are in `keytabs`."""

    name = "kdc"
    ready_seconds = 20.0

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        port: int | None = None,
        ticket_seconds: int = 36_000,
        renewable_seconds: int = 0,
    ) -> None:
        """`ticket_seconds`: the life of every ticket; Kerberos knows no shorter one than it."""
        super().__init__(var, ledger=ledger, port=port)
        self.ticket_seconds = ticket_seconds
        self.renewable_seconds = renewable_seconds

    @property
    def conf(self) -> Path:
        """The krb5.conf of clients and servers."""
        return self.directory / "krb5.conf"

    @property
    def java_options(self) -> str:
        """What a JVM needs to find the realm; its own cache of replays would refuse quick tests."""
        return f"-Djava.security.krb5.conf={self.conf} -Dsun.security.krb5.rcache=none"

    def principal(self, name: str) -> str:
        """Return a name with the realm."""
        return f"{name}@{REALM}"

    def keytab(self, name: str) -> Path:
        """Return where the keytab of `alice` or `hive/localhost` is."""
        return self.directory / "keytabs" / f"{name.partition('/')[0]}.keytab"

    def environment(self) -> Mapping[str, str]:
        """Return the ledger's mark, with the realm's own configuration."""
        return {**super().environment(), **self._own()}

    def prepare(self) -> None:
        """Write the configuration; make database, principals and keytabs where there are none."""
        super().prepare()
        self.directory.chmod(0o700)
        self._write_configuration()
        if (self.directory / "keytabs").is_dir():
            return
        word = secrets.token_urlsafe(24)
        self._run(["kdb5_util", "create", "-s", "-r", REALM, "-P", word])
        fresh = self.directory / "keytabs.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        orders = [f"addprinc -randkey +requires_preauth {name}" for name in (*PEOPLE, *SERVICES)]
        orders += [
            f"ktadd -k {fresh / self.keytab(name).name} {name}" for name in (*PEOPLE, *SERVICES)
        ]
        # A web server's key stands beside that of its service, as Hadoop reads it.
        orders.append(f"ktadd -norandkey -k {fresh / 'hdfs.keytab'} HTTP/{HOST}")
        self.administer(*orders)
        fresh.rename(self.directory / "keytabs")

    def administer(self, *orders: str) -> str:
        """Run orders of kadmin on the database, whether the KDC runs or not.

        Raises:
            StackError: one of them failed.
        """
        said = self._run(["kadmin.local", "-r", REALM], text="\n".join(orders) + "\n")
        failed = [line for line in said.splitlines() if " while " in line or "rror" in line]
        if failed:
            raise StackError(f"kadmin refused: {failed[0]}")
        return said

    def command(self) -> Sequence[str]:
        """Return the argv of the KDC, in the foreground."""
        return [_program("krb5kdc"), "-n", "-r", REALM]

    # -- inside ----------------------------------------------------------------------------

    def _own(self) -> dict[str, str]:
        return {
            "KRB5_CONFIG": str(self.conf),
            "KRB5_KDC_PROFILE": str(self.directory / "kdc.conf"),
        }

    def _run(self, command: Sequence[str], *, text: str = "") -> str:
        done = subprocess.run(
            [_program(command[0]), *command[1:]],
            check=False,
            capture_output=True,
            text=True,
            input=text,
            env={**os.environ, **self._own()},
        )
        if done.returncode:
            raise StackError(f"{command[0]} failed: {(done.stdout + done.stderr)[-1000:]}")
        return done.stdout + done.stderr

    def _write_configuration(self) -> None:
        renewable = f"{self.renewable_seconds}s" if self.renewable_seconds else "0s"
        self.conf.write_text(
            f"""[libdefaults]
  default_realm = {REALM}
  dns_lookup_realm = false
  dns_lookup_kdc = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = {self.ticket_seconds}s
  renew_lifetime = {renewable}
  kdc_timesync = 0
[realms]
  {REALM} = {{
    kdc = {LOOPBACK}:{self.port}
  }}
[domain_realm]
  {HOST} = {REALM}
""",
            encoding="utf-8",
        )
        (self.directory / "kdc.conf").write_text(
            f"""[kdcdefaults]
  kdc_listen = ""
  kdc_tcp_listen = {LOOPBACK}:{self.port}
[realms]
  {REALM} = {{
    database_name = {self.directory / "principal"}
    key_stash_file = {self.directory / "stash"}
    acl_file = {self.directory / "kadm5.acl"}
    max_life = {self.ticket_seconds}s
    max_renewable_life = {renewable}
    supported_enctypes = aes256-cts:normal aes128-cts:normal
  }}
[logging]
  kdc = STDERR
""",
            encoding="utf-8",
        )


def find_program(name: str) -> str | None:
    """Return where one of the KDC's programs is, or None where it is not installed."""
    return shutil.which(name, path=_PATH)


def _program(name: str) -> str:
    found = find_program(name)
    if found is None:
        raise StackError(f"{name} is not installed: apt-get install krb5-kdc")
    return found
