"""The schedulers' client, the portal over HTTP and an API token: tell, then wait."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from portal.connectors.lake_config import LakeConfig
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from refresh.client import Portal, RefreshError
from refresh.freshness.domain.coverage import CompletedRefresh, write_done
from refresh.models import ChangedPartition, Cluster, ClusterFrontEnd, RefreshTarget, TargetFrontEnd
from tests.component.conftest import People
from tests.component.quality.hook_world import LEAVES, HookLake, metastore_of
from tests.component.refresh.refresh_rows import cluster

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hive(lake: LakeConfig, tmp_path: Path, settings: Settings) -> Iterator[HookLake]:
    with metastore_of(lake, tmp_path, Path(settings.LAKEWARDEN_LAKES)) as served:
        yield served


def refresh_everywhere() -> None:
    """Note what a worker would: every front end completed a refresh, and was listed after it."""
    began = timezone.now()
    done = write_done([CompletedRefresh(began, began + timedelta(seconds=1))])
    for fe in ClusterFrontEnd.objects.all():
        TargetFrontEnd.objects.create(target=RefreshTarget.objects.get(), fe=fe, done=done)
    Cluster.objects.update(read_at=timezone.now())


def test_n14_a_job_tells_and_waits_by_its_token(
    hive: HookLake, people: People, live_server: LiveServer
) -> None:
    cluster()
    wish = TokenParams("nightly job", ("refresh",), 9)
    secret = token_make("olga", wish, user=people.owner, now=timezone.now()).secret
    portal = Portal(live_server.url, secret, patience=5)
    told = portal.tell("shop.sales", ["dt=2026-11-21"])
    assert set(ChangedPartition.objects.values_list("name", flat=True)) == set(LEAVES[:2])
    assert not portal.wait(told, ["dt=2026-11-21"], seconds=0)["may_go_on"]
    refresh_everywhere()
    assert portal.wait(told, ["dt=2026-11-21"], seconds=5)["is_visible"]
    with pytest.raises(RefreshError, match="401"):
        Portal(live_server.url, "wrong", patience=0).tell("shop.sales")
