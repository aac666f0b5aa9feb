"""A broker of Kafka that speaks TLS alone, and only with those who log in."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.kafka import Kafka

USER, SECRET = "lake", 'pass"word\\1'
SCRAM_SECRET = "another-one"
_BROKER = "between-brokers"
_MODULE = "org.apache.kafka.common.security"


class Authority:
    """A signer of certificates, as a company has one of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.file = folder / f"{name}.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signed = _builder(self._name, self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self._certificate = signed.sign(self._key, hashes.SHA256())
        self.file.write_bytes(_pem(self._certificate))

    def keystore(self, file: Path) -> Path:
        """Write a key and a certificate of this host as one PEM file, as Kafka reads it."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "broker")])
        host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(LOOPBACK))])
        made = _builder(name, self._name, key.public_key()).add_extension(host, critical=False)
        text = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        signed = made.sign(self._key, hashes.SHA256())
        file.write_bytes(text + _pem(signed) + _pem(self._certificate))
        return file


class SecureKafka(Kafka):
    """SASL_SSL with PLAIN and SCRAM-SHA-512; `USER` may log in by both."""

    def __init__(self, var: Path, *, ledger: Ledger, authority: Authority) -> None:
        super().__init__(var, ledger=ledger)
        self._authority = authority

    def prepare(self) -> None:
        """Write the broker's key too."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._authority.keystore(self.directory / "broker.pem")
        super().prepare()

    def _format(self) -> Sequence[str]:
        return ["--add-scram", f"SCRAM-SHA-512=[name={USER},password={SCRAM_SECRET}]"]

    def _settings(self) -> list[str]:
        plain = [one for one in super()._settings() if not one.startswith("listeners=")]
        plain = [one for one in plain if not one.startswith("advertised.listeners=")]
        secret = SECRET.replace("\\", "\\\\").replace('"', '\\"')
        users = {"username": _BROKER, "password": _BROKER, f"user_{_BROKER}": _BROKER}
        users[f"user_{USER}"] = secret
        said = " ".join(f'{name}="{text}"' for name, text in users.items())
        jaas = f"{_MODULE}.plain.PlainLoginModule required {said};".replace("\\", "\\\\")
        scram = f"{_MODULE}.scram.ScramLoginModule required;"
        return [
            *plain,
            f"listeners=SASL_SSL://{self.address},CONTROLLER://{self._controller}",
            f"advertised.listeners=SASL_SSL://{self.address}",
            "listener.security.protocol.map=SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT",
            "security.inter.broker.protocol=SASL_SSL",
            "sasl.mechanism.inter.broker.protocol=PLAIN",
            "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512",
            f"listener.name.sasl_ssl.plain.sasl.jaas.config={jaas}",
            f"listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config={scram}",
            "ssl.keystore.type=PEM",
            f"ssl.keystore.location={self.directory / 'broker.pem'}",
            "ssl.truststore.type=PEM",
            f"ssl.truststore.location={self._authority.file}",
        ]


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
