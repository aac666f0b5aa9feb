"""`manage.py cdc_pipeline`: what it takes is what the page takes, and what is wrong is said."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.control.domain.spec import PipelineSpec
from pipelines.cdc.control.ui.forms import KafkaForm, PipelineForm
from pipelines.management.commands import cdc_pipeline
from pipelines.models import Pipeline
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import LAKE

pytestmark = pytest.mark.django_db
SHOP = (
    *("shop", "--lake", LAKE, "--host", "db1", "--user", "cdc", "--password-name", "SHOP"),
    *("--server-id", "7001", "--patterns", "shop.*", "--target-db", "ods"),
)
BROKERS = ("--kafka-servers", "b1:9093,b2:9093", "--kafka-topic", "changes")


@pytest.fixture
def tested(lake: LakeConfig, monkeypatch: pytest.MonkeyPatch) -> list[PipelineSpec]:
    """Return what is given to the test of the source, which has a test with real servers."""
    specs: list[PipelineSpec] = []

    def test(spec: PipelineSpec, **_: Any) -> None:
        specs.append(spec)

    monkeypatch.setattr(cdc_pipeline, "checked_source", test)
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_SHOP", "secret")
    return specs


def test_every_option_of_kafka_becomes_the_place_of_the_changelog(
    tested: list[PipelineSpec],
) -> None:
    call_command(
        *("cdc_pipeline", *SHOP, "--changelog", "KAFKA", *BROKERS, "--kafka-user", "lake"),
        *("--kafka-password-name", "KAFKA", "--kafka-mechanism", "PLAIN"),
        *("--kafka-ssl-ca", "/etc/kafka/ca.pem"),
    )
    place = KafkaPlace(
        *("b1:9093,b2:9093", "changes", "lake", "KAFKA", "PLAIN", "/etc/kafka/ca.pem")
    )
    assert [spec.kafka for spec in tested] == [place]
    assert Pipeline.objects.get().spec.kafka == place


def test_there_is_an_option_for_each_field_of_the_form() -> None:
    parser = cdc_pipeline.Command().create_parser("manage.py", "cdc_pipeline")
    options = {option for action in parser._actions for option in action.option_strings}
    fields = {name for name in PipelineForm.base_fields if name.startswith("kafka_")}
    assert fields > {*KafkaForm.base_fields}
    assert {f"--{name.replace('_', '-')}" for name in fields} <= options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--changelog", "KAFKA"), "Give the bootstrap servers of Kafka as host:port"),
        (("--changelog", "KAFKA", *BROKERS[:2]), "is no name of a topic"),
        (BROKERS, "Name brokers only where the changelog is in Kafka"),
        (
            ("--changelog", "KAFKA", *BROKERS, "--kafka-user", "lake"),
            "Name the file or the end of the environment variable",
        ),
        (
            ("--changelog", "KAFKA", *BROKERS, "--kafka-ssl-ca", "ca.pem"),
            "Give an absolute path of a certificate",
        ),
        (("--changelog", "KAFKA", *BROKERS, "--kafka-mechanism", "GSSAPI"), "invalid choice"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_created(
    tested: list[PipelineSpec], options: tuple[str, ...], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("cdc_pipeline", *SHOP, *options)
    assert tested == []
    assert not Pipeline.objects.exists()
