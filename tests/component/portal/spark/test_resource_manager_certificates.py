"""A ResourceManager behind HTTPS: its certificate has to come from an authority of the host."""

from pathlib import Path

import pytest

from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.spark.masters.resource_manager import ResourceManager
from tests.support.certificates import Signer
from tests.support.fake_yarn import fake_yarn
from tests.support.host_authorities import state_of
from tests.support.lakes import local_lake


def manager_of(tmp_path: Path, **addresses: str) -> ResourceManager:
    lake = local_lake(tmp_path, LakeId("main"))
    web = "yarn.resourcemanager.webapp"
    lake.hadoop_conf["yarn.http.policy"] = "HTTPS_ONLY"
    lake.hadoop_conf["yarn.resourcemanager.ha.rm-ids"] = ",".join(addresses)
    for member, address in addresses.items():
        lake.hadoop_conf[f"{web}.https.address.{member}"] = address
    return ResourceManager.of(lake)


def test_an_unknown_certificate_is_refused_with_the_address_and_the_next_step(
    tmp_path: Path,
) -> None:
    with fake_yarn(tls=Signer(tmp_path).pair("manager")) as fake:
        with pytest.raises(ExternalFailure) as refused:
            manager_of(tmp_path, rm1=fake.address).service()
        assert fake.n_asked == 0
    assert refused.value.code == "yarn.certificate"
    assert refused.value.retryable  # no driver is given up for a certificate that ended
    assert f"https://{fake.address}: unable to get local issuer certificate" in str(refused.value)
    assert "Add the certificate of its signer" in str(refused.value)


def test_a_member_that_is_down_beside_it_does_not_hide_the_certificate(tmp_path: Path) -> None:
    pair = Signer(tmp_path).pair("manager")
    with fake_yarn(tls=pair) as fake, pytest.raises(ExternalFailure) as refused:
        manager_of(tmp_path, rm1=fake.address, rm2="127.0.0.1:1").service()
    assert refused.value.code == "yarn.certificate"
    assert "https://127.0.0.1:1: ConnectionError" in str(refused.value)


def test_a_port_without_tls_is_no_matter_of_certificates(tmp_path: Path) -> None:
    with fake_yarn() as fake, pytest.raises(ExternalFailure) as refused:
        manager_of(tmp_path, rm1=fake.address).service()
    assert refused.value.code == "yarn.unreachable"


def test_a_certificate_of_an_authority_of_the_host_is_taken(tmp_path: Path) -> None:
    signer = Signer(tmp_path)
    with fake_yarn(tls=signer.pair("manager")) as fake:
        assert state_of(f"https://{fake.address}", authority=signer.file) == "STARTED"
