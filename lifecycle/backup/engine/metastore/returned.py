"""Notifies readers of files that were put back or changed. No metadata change announces them.

While an item lay behind the fence, a reader that keeps listings may have kept an empty one. Its
metadata never changed, so without a word from us no event would tell that reader to look again. All
else that acting does to registered files comes with an ADD, ALTER or DROP of the metastore's own.
"""

from lifecycle.backup.engine.journal.records import BatchDone, Outcome
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.lake.names import PartitionName, TableName

_IN_SILENCE = frozenset({Outcome.RETURNED, Outcome.NEW_DATA})


def notify_returned(metastore: Metastore, name: TableName, done: BatchDone) -> None:
    """Fire an INSERT event for each item whose registered place has its files back, or new ones.

    Said again it does no harm. A metastore that refuses or is gone does not stop what acts: the
    data is at rest, and a reader's own sweep finds what was not told.
    """
    for item in done.items:
        if item.outcome in _IN_SILENCE:
            partition = PartitionName.parse(item.partition) if item.partition else None
            try:
                metastore.fire_insert(name, partition)
            except ExternalFailure as error:
                if error.retryable:
                    return  # it is gone, and each further call would wait for its time-out
