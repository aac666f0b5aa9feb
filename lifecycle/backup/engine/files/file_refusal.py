"""Judges whether the files of an item may be moved, and what a move that failed means for it."""

from collections.abc import Iterable

from lifecycle.backup.engine import facts
from lifecycle.backup.engine.facts import ActItem
from lifecycle.backup.engine.journal.records import FileFact
from lifecycle.backup.engine.protocol import Tools
from portal.connectors.file_status import MISSING, REFUSED
from portal.connectors.name_services.crossing import crossing
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath


def file_refusal(
    item: ActItem, files: tuple[FileFact, ...], *, location: LakePath, tools: Tools
) -> str | None:
    """Judge the files of an item: missing, changed, being written, or not movable from here."""
    if said := crossing(location, tools.fence.path):
        return f"no backup root on its file system: {said}"
    if not files:
        return "its directory is missing"
    if not files[0].is_dir:
        return "its location is no directory"
    writing = facts.being_written(fact.path for fact in files)
    if writing:
        return f"a job is writing to it ({writing})"
    odd = next((fact.path for fact in files if not _is_text(fact.path)), None)
    if odd is not None:
        return f"the name of a file is no UTF-8 ({shown(odd)}), so no manifest can hold it"
    reasons = facts.file_changes(item, files)
    if reasons:
        return "; ".join(reasons)
    return open_file(files, location, tools=tools) or tools.barrier(location)


def move_refusal(error: PortalError) -> str:
    """Return why one item stays where it is although the run goes on; raise what ends the run.

    Only an answer of the file system counts. After a lost answer nobody knows where the item is.
    """
    if error.code == MISSING:
        return "its directory went away a moment ago"
    return return_refusal(error)


def return_refusal(error: PortalError) -> str:
    """Return why one item stays in its backup although the restore goes on; raise what ends it.

    A backup that is missing is no such reason: its data would be lost.
    """
    if error.code == REFUSED and not getattr(error, "retryable", False):
        return f"the file system refused to move it: {error.message}"
    raise error


def shown(name: str) -> str:
    """Return a listed name as text that can be written down; odd bytes are escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def _is_text(name: str) -> bool:
    return shown(name) == name


def open_file(files: Iterable[FileFact], location: LakePath, *, tools: Tools) -> str | None:
    """Name a file that somebody writes to, as far as can be known here."""
    for fact in files:
        if not fact.is_dir and tools.is_closed(_below(location, fact.path)) is False:
            return f"{fact.path} is open for writing"
    return None


def _below(root: LakePath, relative: str) -> LakePath:
    # Listed names may hold what LakePath.child refuses; they are only looked at, never made.
    return LakePath(root.scheme, root.authority, f"{root.path}/{relative}")
