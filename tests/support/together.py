"""Several people at the same moment: threads with a database connection each."""

from collections.abc import Callable
from threading import Barrier, Thread

from django.db import connections

from portal.lake.errors import PortalError


def together(*actions: Callable[[], object]) -> list[str]:
    """Run actions at the same moment; give each one's code, '' for done.

    Anything but an expected error (a deadlock, say) is shown as the test's own failure.
    """
    barrier, results = Barrier(len(actions)), [""] * len(actions)
    broken: list[Exception] = []

    def work(place: int, action: Callable[[], object]) -> None:
        barrier.wait()
        try:
            action()
        except PortalError as error:
            results[place] = error.code
        except Exception as error:  # raised again in the test's own thread
            broken.append(error)
        finally:
            connections.close_all()

    threads = [Thread(target=work, args=one) for one in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if broken:
        raise broken[0]
    return results
