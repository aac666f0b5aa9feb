"""The form that defines a cube: what is wrong is said at its field, with the line."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from optimizer.cubes.domain.definition import MAX_BUDGET, MAX_LEAF
from optimizer.cubes.domain.drafts import Draft, Refused, read_draft

MAX_TEXT = 20_000
_LINES = {"spellcheck": "false", "autocomplete": "off", "class": "form-control font-monospace"}


def _lines(label: str, help_text: str, rows: int, *, required: bool = False) -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=help_text,
        max_length=MAX_TEXT,
        required=required,
        widget=forms.Textarea({**_LINES, "rows": rows}),
    )


class CubeForm(forms.Form):
    """A definition as it is typed, one thing a line."""

    name = forms.CharField(
        label="Name", max_length=40, help_text="Lower-case letters, digits and _, such as by_brand."
    )
    joins = _lines(
        "Joins",
        "One a line: part: ssb.part on lo_partkey = p_partkey. Chains name an alias above: "
        "maker: ssb.maker on part.p_mfgr = m_id.",
        3,
    )
    dimensions = _lines(
        "Dimensions",
        "One a line: a column such as lo_shipmode, or a name with an expression: brand = "
        "part.p_brand1, month = date_trunc('MONTH', lo_orderdate).",
        6,
        required=True,
    )
    measures = _lines(
        "Measures",
        "One a line with its functions: revenue = lo_revenue: sum, count. Functions: count, sum, "
        "min, max, distinct (at most 1,000 values), sketch. An average needs sum and count; the "
        "number of rows is always kept.",
        5,
    )
    max_leaf = forms.IntegerField(
        label="Star-tree: rows a leaf",
        required=False,
        min_value=1,
        max_value=MAX_LEAF,
        help_text="Empty: no star-tree. 10 is a good start: fewer rows a leaf are faster and take "
        "more storage.",
    )
    star_dimensions = forms.CharField(
        label="Dimensions of the star-tree",
        required=False,
        max_length=1000,
        help_text="Empty: all of them. Otherwise those that queries use most, with commas.",
    )
    skip_star = forms.CharField(
        label="Never aggregated away",
        required=False,
        max_length=1000,
        help_text="Dimensions that every query filters, with commas.",
    )
    budget = forms.FloatField(
        label="Star-tree: most storage",
        required=False,
        max_value=MAX_BUDGET,
        help_text="As times of the cube's rows without the tree, such as 1.5. Files of which the "
        "tree would be larger get larger leaves, or no tree. Empty: no limit.",
    )
    time_zone = forms.CharField(
        label="Time zone of sessions",
        required=False,
        max_length=64,
        initial="UTC",
        help_text="In sessions of another zone, expressions over times with a zone are not used.",
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        table: str,
        initial: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=dict(initial or {}), auto_id="cube_%s")
        self._table = table
        self.definition: dict[str, Any] = {}

    @property
    def draft(self) -> Draft:
        """What was typed."""
        data = self.cleaned_data
        return Draft(**{name: data[name] for name in self.fields if data.get(name) is not None})

    def clean(self) -> dict[str, Any]:
        """Read the lines; each refusal goes to its field."""
        data = dict(self.cleaned_data)
        data.setdefault("name", "")
        data.setdefault("dimensions", "")
        fields = {name: data[name] for name in self.fields if data.get(name) is not None}
        self.definition, refused = read_draft(Draft(**fields), self._table)
        self._say(one for one in refused if one.field not in self.errors)
        return self.cleaned_data

    def _say(self, refused: Iterable[Refused]) -> None:
        for one in list(refused):
            self.add_error(one.field, str(one))
