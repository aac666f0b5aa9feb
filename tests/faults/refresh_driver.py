"""The follower and the worker as programs of their own, so that tests can kill them."""

import os
import sys
import time
from datetime import timedelta

import django


def main(what: str) -> None:
    """Follow, or work, until killed."""
    django.setup()
    from django.utils import timezone

    from portal.runs.claims.leases import new_holder
    from refresh.worker.services import worker as working
    from tasks.follow import follow

    # A dead one's lease is waited for: short, as nobody here is slow.
    working.LEASE = timedelta(seconds=1)
    worker = working.Worker(holder=new_holder(), clock=timezone.now)
    while True:
        if what == "follow":
            follow(timezone.now())
        else:
            worker.turn()
        time.sleep(0.05)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.test")
    main(sys.argv[1])
