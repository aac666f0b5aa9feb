"""Form of a request for a refresh."""

from django import forms

from refresh.freshness.services.actions import MOST_NAMED

_LONGEST = 767


class AskForm(forms.Form):
    """The partitions that are meant, one a line; none for the whole table."""

    partitions = forms.CharField(
        label="Partitions that changed, one a line (empty: the whole table)",
        required=False,
        strip=False,
        max_length=MOST_NAMED * _LONGEST,
        widget=forms.Textarea(
            attrs={"rows": 3, "placeholder": "dt=2026-11-21/hr=03", "spellcheck": "false"}
        ),
    )

    def names(self) -> list[str]:
        """Return the names; a space at the end of one belongs to it, as other line signs do."""
        lines = self.cleaned_data["partitions"].replace("\r\n", "\n").split("\n")
        return [line for line in lines if line.strip()]
