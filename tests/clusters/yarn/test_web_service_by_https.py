"""A real ResourceManager whose web service speaks HTTPS alone."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import load_pem_x509_certificate

from portal.lake.errors import ExternalFailure
from portal.spark.masters.resource_manager import ResourceManager as WebService
from stack.cluster_assets import fetch_clusters
from stack.ledger import Ledger
from stack.process import LOOPBACK, free_port, port_answers
from stack.servers.base import running
from stack.servers.metastore import site_xml
from stack.servers.yarn import CALLS, SCHEDULING, ResourceManager, write_conf
from tests.support.certificates import Pair, Signer
from tests.support.host_authorities import state_of

_PASSWORD = "of-the-keystore"


class _SecureManager(ResourceManager):
    """A ResourceManager without nodes."""

    name = "secure-manager"

    def is_ready(self) -> bool:
        """Whether its web service takes connections."""
        return port_answers(self.port)


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    """A certificate authority that no host knows."""
    return Signer(tmp_path)


@pytest.fixture
def address(tmp_path: Path, signer: Signer) -> Iterator[str]:
    """Where the web service is."""
    fetch_clusters()
    conf = tmp_path / "conf"
    manager = _SecureManager(tmp_path, ledger=Ledger(tmp_path / "stack.json"), conf=conf)
    rm = "yarn.resourcemanager."
    settings = {
        **SCHEDULING,
        **{f"{rm}{name}": f"{LOOPBACK}:{free_port()}" for name in CALLS},
        f"{rm}webapp.https.address": f"{LOOPBACK}:{manager.port}",
        "yarn.http.policy": "HTTPS_ONLY",
    }
    write_conf(conf, settings, default_fs=f"file://{tmp_path}")
    (conf / "ssl-server.xml").write_text(
        site_xml(
            {
                "ssl.server.keystore.type": "pkcs12",
                "ssl.server.keystore.location": str(_keystore(tmp_path, signer.pair("manager"))),
                "ssl.server.keystore.password": _PASSWORD,
                "ssl.server.keystore.keypassword": _PASSWORD,
            }
        ),
        encoding="utf-8",
    )
    with running(manager):
        manager.wait_ready()
        address = f"https://{LOOPBACK}:{manager.port}"
        _wait_answered(address, authority=signer.file)
        yield address


def _wait_answered(address: str, *, authority: Path) -> None:
    """Wait for its first answer, which takes long on a busy machine."""
    deadline = time.monotonic() + 90
    while True:
        try:
            state_of(address, authority=authority)
        except ExternalFailure:
            if time.monotonic() > deadline:
                raise
        else:
            return


def _keystore(folder: Path, pair: Pair) -> Path:
    keystore = folder / "keystore.p12"
    key = load_pem_private_key(pair.key.read_bytes(), password=None)
    assert isinstance(key, EllipticCurvePrivateKey)
    certificate = load_pem_x509_certificate(pair.certificate.read_bytes())
    keystore.write_bytes(
        serialize_key_and_certificates(
            b"manager",
            key,
            certificate,
            None,
            BestAvailableEncryption(_PASSWORD.encode()),
        )
    )
    return keystore


def test_its_certificate_has_to_come_from_an_authority_of_the_host(
    address: str, signer: Signer
) -> None:
    with pytest.raises(ExternalFailure, match="Add the certificate of its signer") as refused:
        WebService((address,), user="lakewarden").service()
    assert refused.value.code == "yarn.certificate"
    assert state_of(address, authority=signer.file) == "STARTED"
