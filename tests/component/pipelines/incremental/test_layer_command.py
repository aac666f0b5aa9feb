"""`manage.py layer`: what it takes is what the API takes, and what is wrong is said."""

import json

import pytest
from django.core.management import CommandError, call_command

from pipelines.incremental.domain.definitions import to_parsed
from pipelines.models import Layer
from tests.component.pipelines.incremental.layered import ORDERS, LayerLake

pytestmark = pytest.mark.django_db


def test_a_layer_is_created_once(hive: LayerLake) -> None:
    for _ in range(2):
        call_command(
            *("layer", json.dumps(to_parsed(ORDERS)), "--every", "60", "--by-time-only"),
        )
    row = Layer.objects.get()
    assert (row.layer, row.set_by) == (ORDERS, "shell")
    assert (row.every_minutes, row.on_commit) == (60, False)


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ("{", "no JSON"),
        ('{"target": "dwd.orders"}', "layer.definition"),
        (json.dumps({**to_parsed(ORDERS), "sources": [{"table": "ods.none"}]}), "layer."),
    ],
)
def test_what_is_wrong_is_said(hive: LayerLake, definition: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("layer", definition)
    assert not Layer.objects.exists()
