"""May the files of an item be moved: are they there, as approved, and written by nobody?"""

from collections.abc import Iterable

from portal.act import facts
from portal.act.facts import ActItem
from portal.act.protocol import Tools
from portal.act.records import FileFact
from portal.lake.paths import LakePath


def file_refusal(
    item: ActItem, files: tuple[FileFact, ...], *, location: LakePath, tools: Tools
) -> str | None:
    """Judge the files of an item: missing, changed, being written, or not movable from here."""
    if not files:
        return "its directory is missing"
    if not files[0].is_dir:
        return "its location is no directory"
    if not location.same_file_system(tools.fence.path):
        return "no backup root on its file system"
    writing = facts.being_written(fact.path for fact in files)
    if writing:
        return f"a job is writing to it ({writing})"
    reasons = facts.file_changes(item, files)
    if reasons:
        return "; ".join(reasons)
    return open_file(files, location, tools=tools) or tools.barrier(location)


def open_file(files: Iterable[FileFact], location: LakePath, *, tools: Tools) -> str | None:
    """Name a file that somebody writes to, as far as can be known here."""
    for fact in files:
        if not fact.is_dir and tools.is_closed(_below(location, fact.path)) is False:
            return f"{fact.path} is open for writing"
    return None


def _below(root: LakePath, relative: str) -> LakePath:
    # Listed names may hold what LakePath.child refuses; they are only looked at, never made.
    return LakePath(root.scheme, root.authority, f"{root.path}/{relative}")
