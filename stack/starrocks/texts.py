"""Code and message of every error of a front end, by version.

The words are those of real front ends; what was only read in the source of 2.2.9 is so marked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

PARTIAL = 5074
_MORE = (
    " Please ask the admin to grant permission(s) or try activating existing roles using"
    " <set [default] role>. Current role(s): NONE. Inactivated role(s): NONE."
)


class SqlError(Exception):
    """What goes back as an error packet."""

    def __init__(self, code: int, text: str, *, state: str = "42000") -> None:
        super().__init__(text)
        self.code = code
        self.state = state


def bad_login(user: str, *, with_password: bool) -> SqlError:
    """Refuse a user or password."""
    said = "YES" if with_password else "NO"
    return SqlError(1045, f"Access denied for user '{user}' (using password: {said})")


def partial(failures: Sequence[tuple[str, str]]) -> SqlError:
    """Name the other front ends that failed; this one and the rest are refreshed."""
    said = "".join(f"refresh fe {host} failed: {why};" for host, why in failures)
    return SqlError(PARTIAL, f"refresh external table failed: {said}")


def analysis(code: int, detail: str) -> SqlError:
    """Refuse a statement that reads well but means nothing here (3.x)."""
    return SqlError(code, f"Getting analyzing error. Detail message: {detail}")


def syntax(column: int, detail: str) -> SqlError:
    """Refuse a statement that cannot be read (3.x)."""
    return SqlError(
        1064, f"Getting syntax error at line 1, column {column}. Detail message: {detail}"
    )


def unknown_catalog(name: str) -> SqlError:
    """Refuse a catalog (3.x)."""
    return analysis(5078, f"Unknown catalog '{name}'.")


def unknown_db(name: str) -> SqlError:
    """Refuse a database of a catalog (3.x)."""
    return analysis(5501, f"Unknown database '{name}'.")


def unknown_db_in_refresh(name: str) -> SqlError:
    """Refuse a database of a catalog in a refresh; real ones call it a table there (3.x)."""
    return analysis(5502, f"Unknown table '{name}'.")


def no_leader() -> SqlError:
    """Say that nobody leads, so that nothing can be forwarded; the code was seen, not the words."""
    return SqlError(1064, "Forward to leader failed: there is no leader at the moment")


def planner_slow(seconds: float) -> SqlError:
    """Give up planning: what the plan needed was not cached and took too long (3.x)."""
    return SqlError(
        1064,
        f"StarRocks planner use long time {seconds * 1000:.0f} ms in logical phase, This probably"
        " because 1. FE Full GC, 2. Hive external table fetch metadata took a long time, 3. The"
        " SQL is very complex. You could 1. adjust FE JVM config, 2. try query again, 3. enlarge"
        " new_planner_optimize_timeout session variable",
    )


def no_db() -> SqlError:
    """Ask for a database."""
    return analysis(1046, "No database selected.")


def no_table(full_name: str, why: str, *, was_cached: bool = False) -> SqlError:
    """Say that a table could not be had from the metastore (3.x)."""
    tail = ", invalidated cache." if was_cached else ""
    return SqlError(1064, f"Failed to get table [{full_name}], msg: {why}{tail}")


def no_partition(name: str) -> SqlError:
    """Say that the metastore has no such partition (3.x), in a Java library's words."""
    return SqlError(1064, f"null value in entry: {name}=null")


def no_privilege(privilege: str, kind: str, name: str = "") -> SqlError:
    """Refuse for want of a right (3.x)."""
    target = f"{kind} {name}".strip()
    return SqlError(
        5203,
        f"Access denied; you need (at least one of) the {privilege} privilege(s) on {target} for"
        f" this operation.{_MORE}",
    )


@dataclass(frozen=True, slots=True)
class OldTexts:
    """What 2.2.9 says, as read in its source."""

    user: str
    client: str

    def denied(self, command: str, table: str) -> SqlError:
        """Refuse for want of a right."""
        return SqlError(
            1142,
            f"{command} command denied to user '{self.user}'@'{self.client}' for table '{table}'",
        )


def old_unknown_db(name: str) -> SqlError:
    """Refuse a database (2.2)."""
    return SqlError(1049, f"Unknown database '{name}'")


def old_unknown_table(name: str) -> SqlError:
    """Refuse a table (2.2)."""
    return SqlError(1051, f"Unknown table '{name}'", state="42S02")


def old_not_hive(name: str) -> SqlError:
    """Refuse a table of StarRocks' own (2.2)."""
    return SqlError(1064, f"table : {name} not exists, or is not hive/hudi external table")


def old_table_failed(why: str) -> SqlError:
    """Say that a table's caches could not be loaded (2.2)."""
    return SqlError(1064, f"refresh table cache failed: {why}")


def old_partition_failed(why: str) -> SqlError:
    """Say that a partition's caches could not be loaded (2.2)."""
    return SqlError(1064, f"refresh partition cached failed: {why}")
