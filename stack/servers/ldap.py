"""A real LDAP server (UnboundID's, in memory), with StartTLS by a certificate of its own."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from stack.errors import StackError
from stack.ledger import Ledger
from stack.places import JARS
from stack.process import LOOPBACK, SHORT_LIVED_JVM
from stack.servers.base import Server

BASE = "dc=example,dc=com"
PEOPLE = f"ou=people,{BASE}"
GROUPS = f"ou=groups,{BASE}"
SERVICE = f"cn=portal,{BASE}"
_KEYS_WORD = "changeit"
_TOOL = "com.unboundid.ldap.listener.InMemoryDirectoryServerTool"


class LdapServer(Server):
    """The directory; `people` are user names with their groups, changed by ordinary LDAP."""

    name = "ldap"
    ready_seconds = 60.0

    def __init__(
        self, var: Path, *, ledger: Ledger, people: Mapping[str, Sequence[str]], password: str
    ) -> None:
        super().__init__(var, ledger=ledger)
        self.people, self.password = people, password

    @property
    def url(self) -> str:
        """The address; StartTLS is spoken on the same port."""
        return f"ldap://{LOOPBACK}:{self.port}"

    @property
    def ca_file(self) -> Path:
        """The certificate that a client must trust."""
        return self.directory / "server.pem"

    @property
    def password_file(self) -> Path:
        """The file of the service account's password, as sign_in.json names it."""
        return self.directory / "service.password"

    def prepare(self) -> None:
        """Write the entries and make the certificate."""
        super().prepare()
        (self.directory / "people.ldif").write_text(self._ldif(), encoding="utf-8")
        self.password_file.touch(mode=0o600)
        self.password_file.write_text(self.password, encoding="utf-8")
        if not self.ca_file.exists():
            self._make_certificate()

    def command(self) -> Sequence[str]:
        """Return the argv of the server."""
        return [
            *("java", "-Xmx128m", *SHORT_LIVED_JVM, "-cp", f"{JARS / 'ldap'}/*", _TOOL),
            *("--port", str(self.port), "--baseDN", BASE, "--useDefaultSchema"),
            *("--ldifFile", str(self.directory / "people.ldif"), "--useStartTLS"),
            *("--keyStorePath", str(self.directory / "keys.p12"), "--keyStoreType", "PKCS12"),
            *("--keyStorePassword", _KEYS_WORD),
            *("--additionalBindDN", "cn=root", "--additionalBindPassword", self.password),
        ]

    def _make_certificate(self) -> None:
        keys = ["-keystore", str(self.directory / "keys.p12"), "-storetype", "PKCS12"]
        keys += ["-storepass", _KEYS_WORD, "-alias", "server"]
        make = ["-genkeypair", "-keyalg", "RSA", "-keysize", "2048", "-validity", "30"]
        make += ["-dname", f"CN={LOOPBACK}", "-ext", f"SAN=IP:{LOOPBACK},DNS:localhost"]
        show = ["-exportcert", "-rfc", "-file", str(self.ca_file)]
        for step in (make, show):
            done = subprocess.run(
                ["keytool", *step, *keys], check=False, capture_output=True, text=True
            )
            if done.returncode != 0:
                raise StackError(f"keytool could not {step[0]}: {done.stdout}{done.stderr}")

    def _ldif(self) -> str:
        entries = [
            _entry(BASE, "domain", dc="example"),
            _entry(PEOPLE, "organizationalUnit", ou="people"),
            _entry(GROUPS, "organizationalUnit", ou="groups"),
            _entry(SERVICE, "person", cn="portal", sn="portal", userPassword=self.password),
        ]
        entries += [
            _entry(
                f"uid={name},{PEOPLE}",
                "inetOrgPerson",
                uid=name,
                cn=f"{name.title()} Example",
                sn="Example",
                mail=f"{name}@example.com",
                userPassword=self.password,
            )
            for name in self.people
        ]
        for group in sorted({group for groups in self.people.values() for group in groups}):
            members = [name for name, groups in self.people.items() if group in groups]
            lines = [f"member: uid={name},{PEOPLE}" for name in members]
            head = _entry(f"cn={group},{GROUPS}", "groupOfNames", cn=group).rstrip("\n")
            entries.append("\n".join([head, *lines]) + "\n")
        return "\n".join(entries)


def _entry(dn: str, kind: str, **values: str) -> str:
    lines = [f"dn: {dn}", f"objectClass: {kind}"]
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in values.items())]) + "\n"
