"""One leader a role; who stops renewing loses it; the fencing number grows."""

import threading
from datetime import datetime, timedelta

import pytest
from django.db import connection

from portal.runs.claims.leases import lease_release, lease_take, new_holder

LENGTH = timedelta(seconds=30)


@pytest.mark.django_db
def test_a_lease_is_held_renewed_lost_and_taken(now: datetime) -> None:
    assert lease_take("lead", holder="a", length=LENGTH, now=now) == 1
    assert lease_take("lead", holder="b", length=LENGTH, now=now) is None
    assert lease_take("lead", holder="a", length=LENGTH, now=now + LENGTH) == 1
    assert lease_take("lead", holder="b", length=LENGTH, now=now + 2 * LENGTH) == 2
    assert lease_take("lead", holder="a", length=LENGTH, now=now + 2 * LENGTH) is None
    lease_release("lead", holder="b", now=now + 2 * LENGTH)
    assert lease_take("lead", holder="a", length=LENGTH, now=now + 2 * LENGTH) == 3


@pytest.mark.django_db(transaction=True)
def test_of_many_one_leads(now: datetime) -> None:
    barrier = threading.Barrier(6)
    won: list[str] = []

    def take(name: str) -> None:
        barrier.wait()
        if lease_take("lead", holder=name, length=LENGTH, now=now) is not None:
            won.append(name)
        connection.close()

    threads = [threading.Thread(target=take, args=(new_holder(),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
