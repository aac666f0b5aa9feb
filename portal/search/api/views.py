"""API of the search."""

from drf_spectacular.utils import OpenApiParameter

from portal.search.api.serializers import FoundSerializer
from portal.search.selectors.everything import SHOWN, search
from portal.search.selectors.opened import opened_last
from portal.ui.api.operations import LAKE, ApiView, operation

TEXT = OpenApiParameter("q", str, description="Parts of a name, `database.table`, or an id.")


class Search(ApiView):
    """Search over everything that you may see."""

    @operation("search", answer=FoundSerializer, parameters=[*LAKE, TEXT])
    def get(self) -> object:
        """Return the tables, databases, proposals, runs, people and pages that a text means.

        At most eight of each are given, the best first. Every word begins a word of the name;
        typos are forgiven in words of four letters or more.
        """
        found = search(self.user, self.lake, self.request.query_params.get("q", ""), limit=SHOWN)
        opened = [] if found.text else opened_last(self.user, self.lake)
        return {"text": found.text, "groups": found.groups, "opened": opened}
