"""Signs certificates of servers and clients, good ones and ones that must be refused."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from stack.process import LOOPBACK

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, each in a file."""

    certificate: Path
    key: Path


class Signer:
    """An authority as a company has one of its own."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder, self.file = folder, folder / f"{name}.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        basic = x509.BasicConstraints(ca=True, path_length=0)
        made = self._builder(self._name, self._key.public_key(), days=10)
        signed = made.add_extension(basic, critical=True).sign(self._key, hashes.SHA256())
        self.file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def pair(self, name: str, *, address: str = LOOPBACK, days: int = 10) -> Pair:
        """Write a certificate for an address; one of negative days has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        made = self._builder(subject, key.public_key(), days=days)
        signed = made.add_extension(host, critical=False).sign(self._key, hashes.SHA256())
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        pair.key.touch(mode=0o600)
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
        )
        return pair

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, *, days: int
    ) -> x509.CertificateBuilder:
        until = datetime.now(UTC) + days * DAY
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(until - 30 * DAY)
            .not_valid_after(until)
        )
