"""Says how far the targets of layers are, and what their sources must keep for them."""

from pipelines.models import Layer, LayerSource
from portal.catalog.services.change_readers import ChangeReader, register_change_readers
from portal.catalog.services.watermarks import Watermark, register_watermarks
from portal.lake.names import TableName

_NOTHING = "it was not advanced yet"


def register() -> None:
    """Have targets asked about, and sources of layers."""
    register_watermarks("pipelines.layers", table_watermark)
    register_change_readers("pipelines.layers", table_readers)


def table_watermark(table: TableName) -> Watermark | None:
    """Return the watermark of the target of a layer; None where the table is none."""
    row = Layer.objects.filter(lake=str(table.lake), db=table.db, table=table.table).first()
    if row is None:
        return None
    # Who asks may see the target and not its sources: the reason comes without their names.
    reason = row.watermark_reason.rpartition(": ")[2] or _NOTHING
    return Watermark(table, row.watermark, "" if row.watermark else reason)


def table_readers(table: TableName) -> list[ChangeReader]:
    """Return the layers that read the changes of a table, with what it keeps for each.

    By number: the names of their targets are not for everybody who may see the table.
    """
    edges = LayerSource.objects.filter(
        layer__lake=str(table.lake), db=table.db, table=table.table, is_static=False
    )
    holds = ((edge, edge.hold) for edge in edges)
    return [
        ChangeReader(f"layer {edge.layer_id}", hold.since, is_capped=hold.is_capped)
        for edge, hold in holds
        if hold is not None
    ]
