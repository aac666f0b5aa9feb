"""The demo's expected partitions: the page shows one ready, one expected and one late."""

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pymetastore.hive_metastore import ttypes

from portal.access.services import person_create
from portal.connectors.metastore import Metastore
from quality.freshness.services.inspection import look_at
from quality.models import ExpectedPartition, FreshnessRule
from stack.lake import feed
from stack.stack import LAKE, Stack

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def metastore(embedded_stack: Stack, settings: Any) -> Iterator[Metastore]:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    config = embedded_stack.config()
    place = f"{embedded_stack.lake_root}/user/{feed.OWNER}/{feed.FEED.db}.db"
    database = ttypes.Database(feed.FEED.db, "", place, {}, ownerName=feed.OWNER, ownerType=1)
    with Metastore.connect(config) as metastore:
        metastore.create_database(database)
        yield metastore
        metastore.drop_table(feed.FEED, delete_data=True)
        # Not offered by the connector: the product never drops a database.
        metastore._client.drop_database(feed.FEED.db, True, True)


@pytest.mark.parametrize("hour", [0, 23])
def test_one_is_ready_one_awaited_and_one_late_at_every_hour(
    metastore: Metastore,
    embedded_stack: Stack,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    hour: int,
) -> None:
    zone = embedded_stack.config().zone
    now = datetime.combine(timezone.now().astimezone(zone).date(), time(hour, 30), zone)
    feed.make_feed(metastore, today=now.date())
    bob = person_create(feed.OWNER, password="correct horse staple", email="", roles=())
    declared_at = now - timedelta(days=feed.DAYS_DECLARED)
    words = [f"{feed.FEED.db}.{feed.FEED.table}", "--lake", LAKE, *feed.DECLARED]
    for _ in range(2):
        call_command("ready_rule", *words, "--user", feed.OWNER, "--now", declared_at.isoformat())
    rule = FreshnessRule.objects.get()
    assert rule.version == 0, "said again it is as it was"
    assert rule.look_at <= now, "the portal looks as soon as it runs"
    look_at(rule, metastore, now=now)

    late, expected, ready = ExpectedPartition.objects.order_by("start")
    assert (ready.standing, ready.ready_by, ready.late_by(now)) == ("READY", "rule", None)
    assert (expected.standing, expected.late_by(now)) == ("UNREADY", None)
    assert late.standing == "MISSING"
    assert late.late_by(now) is not None

    with monkeypatch.context() as patched:
        patched.setattr(timezone, "now", lambda: now)
        # By the same clock: a session of the early morning would be over at night.
        client.force_login(bob)
        for query, wanted in (
            ({"standing": "READY"}, [ready]),
            ({"standing": "UNREADY"}, [expected]),
            ({"late": "now"}, [late]),
        ):
            page = client.get("/readiness/", {"lake": LAKE, **query}).content.decode()
            shown = [row for row in (late, expected, ready) if row.spec in page]
            assert shown == wanted


def test_an_instant_is_taken_only_where_time_is_played(
    db: None, settings: Any, embedded_stack: Stack
) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_ALLOW_PLAYED_TIME = False
    words = ["web.partner_feed", *feed.DECLARED, "--user", "bob", "--now", "2026-11-20"]
    with pytest.raises(CommandError, match="by the clock"):
        call_command("ready_rule", *words)
