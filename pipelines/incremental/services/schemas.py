"""Takes over changed columns of a source, which hold its layer until a person says so."""

from datetime import datetime

from django.db import transaction

from pipelines.incremental.services.declaring import check_staff, record
from pipelines.models import LayerSource
from portal.access.actors import Actor
from portal.lake.errors import StaleState


def schema_accept(edge: LayerSource, *, seen: str, reread: bool, by: Actor, now: datetime) -> None:
    """Go on with the columns that a source has now; `seen` is what the person was shown of them.

    With `reread` rows of before get the new columns as well; else theirs stay as they are.

    Raises:
        NotAllowed: `layer.role`.
        StaleState: `layer.schema`, they changed again, or nothing waits.
    """
    check_staff(by)
    with transaction.atomic():
        known = LayerSource.objects.select_for_update().select_related("layer").get(pk=edge.pk)
        words = known.waits_for
        if not words or words != seen:
            raise StaleState(
                "layer.schema",
                f"The columns of {known} changed again, or somebody decided. Reload the page.",
                table=str(known),
            )
        known.schema, known.found_schema = known.found_schema, []
        known.save()
        layer = known.layer
        layer.problem, layer.problem_code, layer.next_at = "", "", now
        if reread:
            layer.full_reason = f"The columns of {known} changed ({words})."
        layer.save(update_fields=["problem", "problem_code", "next_at", "full_reason"])
        data = {"source": str(known), "change": words, "reread": reread}
        record("schema_accepted", layer, data, by=by.name, now=now)
