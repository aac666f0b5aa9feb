"""Chooses the kind of index for columns that leave it to the portal, by the table's real values.

Before a build some of its files are sampled; kind and cost follow from the sample. What does not
pay is refused with its figures, and is considered again when files come for which it would.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.domain.wanted import AUTO, COST
from optimizer.iceberg.indexing.jobs.build import Lack
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.iceberg.indexing.jobs.coverage import LiveFile, lacking
from optimizer.iceberg.indexing.jobs.sampling import sample_columns, spread
from optimizer.indexes.domain.choice.costs import Decision, Judged, Workload, before_building
from optimizer.indexes.domain.choice.kinds import OF_PIECES, Use, choose_for
from optimizer.indexes.domain.choice.profile import ColumnProfile, profile_of
from optimizer.indexes.domain.manifest import Manifest

LEAST_FILES = 16
"""Of fewer files each decides for itself: what a table becomes, so few do not tell."""


@dataclass(frozen=True)
class Choices:
    """By field id: the kind that pays, or the reason why none does."""

    kinds: Mapping[int, str]
    refused: Mapping[int, str]


@dataclass(frozen=True)
class Chosen:
    """What is to be built, and what is refused with its reasons."""

    lacks: list[Lack]
    refused: list[Lack]
    reasons: Mapping[int, str]


def choose_kinds(
    table: IcebergTable,
    files: Sequence[LiveFile],
    columns: Sequence[IndexedColumn],
    manifest: Manifest,
    *,
    uses: Mapping[str, Collection[Use]],
) -> Chosen:
    """Return what each file lacks, with the kinds that the sample speaks for.

    `uses` says by a column's name in lower case how recorded scans ask for it, where they do.

    Raises:
        PortalError: what Spark or the file system said, sorted.
    """
    lacks = lacking(files, columns, manifest)
    wanted = {one.field_id: one for _, mine in lacks for one in mine if one.kind == AUTO}
    if not wanted or len(files) < LEAST_FILES:
        return Chosen(lacks, [], {})
    choices = _choices(table, files, list(wanted.values()), uses)
    # What was refused by its cost is asked for again where it pays now.
    lacks = lacking(files, columns, manifest, again=choices.kinds)
    return Chosen(
        [(file, rest) for file, mine in lacks if (rest := _left(mine, choices))],
        lacks,
        choices.refused,
    )


def decide(profile: ColumnProfile | None, uses: Collection[Use] = ()) -> tuple[str, str]:
    """Return the kind that pays, or none with the reason and its figures.

    Without `uses` the type says how a column is asked for.
    """
    if profile is None:
        return "", "the sampled rows hold only nulls."
    choice = choose_for(profile, uses)
    if choice.kind is None:
        said = dict.fromkeys(choice.why_not.values())
        return "", f"{choice.reason}{': ' if said else ''}{'; '.join(said)}."
    if choice.kind in OF_PIECES:
        return choice.kind.value, f"{choice.reason}."
    judged = before_building(choice.kind, profile, Workload())
    if judged.decision == Decision.REFUSE:
        return "", f"{choice.kind.value}: {judged.reason} ({_figures(judged)})."
    return choice.kind.value, judged.reason


def _choices(
    table: IcebergTable,
    files: Sequence[LiveFile],
    columns: Sequence[IndexedColumn],
    uses: Mapping[str, Collection[Use]],
) -> Choices:
    found = sample_columns(table, spread(files), columns)
    n_bytes = sum(one.data_file.size for one in files)
    kinds, refused = {}, {}
    for column in columns:
        samples = found.get(column.field_id, [])
        profile = profile_of(
            column.type, samples, files=len(files), file_bytes=n_bytes / len(files)
        )
        kind, reason = decide(profile, uses.get(column.name.lower(), ()))
        if kind:
            kinds[column.field_id] = kind
        else:
            refused[column.field_id] = COST + reason
    return Choices(kinds, refused)


def _left(columns: Sequence[IndexedColumn], choices: Choices) -> list[IndexedColumn]:
    """Return the columns that are built, with their kinds."""
    return [
        replace(one, chosen=choices.kinds[one.field_id])
        if one.kind == AUTO and one.field_id in choices.kinds
        else one
        for one in columns
        if one.kind != AUTO or one.field_id not in choices.refused
    ]


def _figures(judged: Judged) -> str:
    """Return the figures of a decision in words."""
    one = judged.figures
    return (
        f"files a look-up opens without it {one['files_without']:,.1f}, with it "
        f"{one['files_with']:,.1f}; {one['storage_bytes'] / 1e6:,.1f} MB, "
        f"{one['planning_ms']:,.0f} ms at planning, {one['saved_ms']:,.0f} ms saved"
    )
