"""Policies of Hudi tables on the pages: seen, tried out, set, refused, apart from Iceberg's."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.models import HudiTable, PolicyVersion
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.access.models import User
from tests.component.conftest import LAKE, People
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.unit.optimizer.hudi.hudi_world import LOCK

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
POLICIES = "/optimizer/hudi/policies/"
WHOLE = f"{POLICIES}of/*/"
SAID = {"seen": "0", "reason": "to try it", "do": "set"}


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(user: User, address: str) -> str:
    answer: Any = client_of(user).get(address)
    assert answer.status_code == 200, answer.content[:400]
    return str(answer.content.decode())


def sent(user: User, address: str, **said: Any) -> tuple[int, str]:
    answer: Any = client_of(user).post(address, {**SAID, **said}, follow=True)
    return answer.status_code, str(answer.content.decode())


def keep(people: People, scope: str, **values: object) -> PolicyVersion:
    change = PolicyChange(LAKE, scope, values, 0, "because", TableFormat.HUDI)
    return policy_set(change, user=people.admin, now=timezone.now())


def of_table(row: HudiTable) -> str:
    return f"/optimizer/hudi/{row.pk}/policy/"


def test_the_page_of_a_table_shows_what_holds_and_takes_its_own_settings(people: People) -> None:
    row = hudi()
    keep(people, "*", is_on=True, profile="near-line")
    text = page(people.owner, of_table(row))
    for words in (
        "Set for <code>shop.clicks</code>",
        f"{POLICIES}of/*/?lake=main",
        "default for near-line",
        "Inherited: 15, default for near-line.",
        "TTL: old partitions are dropped (approved first)",
    ):
        assert words in text, words
    status, text = sent(
        people.owner,
        of_table(row),
        lock=LOCK,
        writer_serialized="on",
        small_bytes="64 MiB",
        ttl_days="30",
        kinds=["COMPACTION", "TTL"],
        quiet="none",
    )
    assert status == 200, text
    assert "Policy saved" in text
    own = PolicyVersion.objects.get(scope="shop.clicks")
    assert (own.format, own.by, own.version) == ("hudi", "olga", 1)
    assert own.values == {
        "lock": LOCK,
        "writer_serialized": True,
        "small_bytes": 64 * 1024**2,
        "ttl_days": 30,
        "kinds": ["COMPACTION", "TTL"],
        "quiet": None,
    }
    text = page(people.owner, of_table(row))
    assert "Shared lock: org.apache.hudi" in text
    assert 'value="30"' in text
    refused = sent(people.owner, of_table(row), seen="1", ttl_days="30", kinds=["COMPACTION"])
    assert refused[0] == 400
    assert "partitions shall go after 30 days and TTL is not allowed" in refused[1]
    late = sent(people.owner, of_table(row), commits="9")
    assert late[0] == 409
    assert "What you typed is kept below" in late[1]
    assert PolicyVersion.objects.filter(scope="shop.clicks").count() == 1


def test_what_a_change_would_do_is_said_before_it_is_kept(people: People) -> None:
    hudi()
    hudi("taps")
    address = f"{POLICIES}new/?scope=shop*"
    status, text = sent(people.admin, address, profile="near-line", do="preview", reason="")
    assert status == 200
    assert "2 of 2 tables would change." in text
    assert "Blackout window of 2 tables: 07:00-22:00 → none" in text
    assert not PolicyVersion.objects.exists()
    status, text = sent(people.admin, address, profile="near-line")
    assert "Policy of <code>shop*</code>" in text
    assert "Kind of table: near-line" in text


def test_each_format_has_its_list_and_its_scopes(people: People) -> None:
    row = hudi()
    keep(people, "*", commits=3)
    keep(people, "shop.clicks", commits=4)
    text = page(people.admin, POLICIES)
    assert "Delta commits: 3" in text
    assert f"{POLICIES}of/shop.clicks/" in text
    assert 'href="/optimizer/policies/?lake=main"' in text
    assert "No policy is set yet" in page(people.admin, "/optimizer/policies/")
    text = page(people.admin, f"{POLICIES}?sets=commits&level=TABLE")
    assert "Delta commits: 4" in text
    assert "Delta commits: 3" not in text
    exported: Any = client_of(people.admin).get(f"{POLICIES}?format=csv")
    assert b"shop.clicks" in b"".join(exported.streaming_content)
    led: Any = client_of(people.owner).get(f"{POLICIES}of/shop.clicks/")
    assert (led.status_code, led.url) == (302, of_table(row))
    text = page(people.owner, WHOLE)
    assert "You are not responsible for this scope" in text
    assert f'href="{of_table(row)}"' in text
    assert client_of(people.owner).get("/optimizer/policies/of/*/").status_code == 404


def test_who_does_not_see_the_table_or_asks_for_one_that_is_gone_is_told_nothing(
    people: People,
) -> None:
    row, gone = hudi(), hudi("gone", is_deleted=True)
    odd = hudi("a b")
    assert client_of(people.stranger).get(of_table(row)).status_code == 404
    for one in (gone, odd):
        assert client_of(people.owner).get(of_table(one)).status_code == 404
    keep(people, "shop*", commits=3)
    assert "shop*" not in page(people.stranger, POLICIES)
    assert client_of(people.owner).get(f"{POLICIES}new/").status_code == 403
    text = page(people.admin, f"{POLICIES}new/")
    assert f'action="{POLICIES}new/"' in text
