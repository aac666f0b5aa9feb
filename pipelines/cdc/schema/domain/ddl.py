"""Reads a statement of the binary log: which tables it touches, and what it does to them.

Nothing is lost: what cannot be read is a step `unread`, of its table where that much is known, and
a person reads it. Statements that do nothing to tables of rows (transactions, grants, views,
triggers, indexes, temporary tables, maintenance) have no steps.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from pipelines.cdc.changes.domain.schemas import Column
from pipelines.cdc.schema.domain.alters import Alter, read_primary_key
from pipelines.cdc.schema.domain.definitions import read_definition
from pipelines.cdc.schema.domain.lexical import Unreadable, Words
from pipelines.cdc.schema.domain.statements import Does, Statement, Step

_NOTHING = (
    *("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "XA", "START", "GRANT", "REVOKE"),
    *("SET", "FLUSH", "ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "CHECKSUM", "USE", "LOCK"),
    *("UNLOCK", "INSTALL", "UNINSTALL", "DO", "KILL", "RESET", "PURGE", "SHUTDOWN", "SELECT"),
    *("SHOW", "DESCRIBE", "DESC", "EXPLAIN", "CACHE", "BINLOG", "BACKUP", "STOP", "CHANGE", "HELP"),
)
_OBJECTS = (
    *("VIEW", "TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "USER", "ROLE", "SERVER", "SEQUENCE"),
    *("TABLESPACE", "UNDO", "LOGFILE", "INSTANCE", "RESOURCE", "PACKAGE", "DEFINER", "ALGORITHM"),
    *("SQL", "AGGREGATE", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL", "PREPARE", "LIBRARY"),
    *("TEMPORARY", "OR REPLACE TEMPORARY", "GLOBAL TEMPORARY", "MASKING"),
)
_DATABASE = ("DATABASE", "SCHEMA")
_TABLE = ("TABLE", "TABLES")
_EXISTS = ("IF NOT EXISTS", "IF EXISTS")
_ROWS = ("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "CALL", "WITH", "EXECUTE", "IMPORT")
_IN_TABLE = (
    *("INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "FOREIGN", "CONSTRAINT", "CHECK"),
    *("PERIOD FOR",),
)


def read_statement(text: str, db: str) -> Statement:
    """Read a statement that was made in the database `db`; never fails."""
    try:
        words = Words.of(text)
        steps = () if words.is_compound else tuple(_steps(words, db))
        if words.is_compound or (steps and words.has_semicolon):
            raise Unreadable("it is more than one statement")
        return Statement(text, steps)
    except Unreadable as error:
        return Statement(text, (Step(Does.UNREAD, text=f"{text[:1000]}: {error}"),))


def _steps(words: Words, db: str) -> Iterator[Step]:
    _skip_settings(words)
    if words.is_at_end or words.next_is(*_NOTHING):
        return
    if words.next_is(*_ROWS):
        yield Step(Does.ROWS, db, text=words.rest[:1000])
        return
    reader = _READERS.get(words.word())
    if reader is None:
        raise words.unreadable("a statement that is known")
    words.skip()
    yield from reader(words, db)


def _skip_settings(words: Words) -> None:
    """Skip what MariaDB has before a statement: SET STATEMENT max_statement_time = 1 FOR .."""
    if words.accept("SET STATEMENT"):
        while not words.accept("FOR"):
            if words.is_at_end:
                raise words.unreadable("FOR")
            words.skip()


def _alter(words: Words, db: str) -> Iterator[Step]:
    words.accept("ONLINE", "OFFLINE")
    is_lossy = words.accept("IGNORE")
    if not words.accept(*_TABLE):
        if words.next_is(*_DATABASE, *_OBJECTS):
            return
        raise words.unreadable("TABLE")
    words.accept(*_EXISTS)
    table = words.table(db)
    if words.accept("WAIT"):
        words.skip()
    words.accept("NOWAIT")
    if is_lossy:
        yield Step(Does.REMOVE_ROWS, *table, text="ALTER IGNORE drops rows that break a key")
    yield from Alter(*table).steps(words)


def _create(words: Words, db: str) -> Iterator[Step]:
    if words.next_is(*_OBJECTS):
        return
    replaces = words.accept("OR REPLACE")
    if words.accept(*_DATABASE):
        words.accept(*_EXISTS)
        if replaces:
            yield Step(Does.DROP_DATABASE, (name := words.name()))
            yield Step(Does.CREATE_DATABASE, name)
        else:
            yield Step(Does.CREATE_DATABASE, words.name())
        return
    if not words.accept("TABLE"):
        if words.next_is(*_OBJECTS):
            return
        raise words.unreadable("TABLE")
    words.accept(*_EXISTS)
    table = words.table(db)
    if replaces:
        yield Step(Does.DROP_TABLE, *table)
    yield _created(words, table, db)


def _created(words: Words, table: tuple[str, str], db: str) -> Step:
    group = words.group()
    like = group if group is not None and group.next_is("LIKE") else words
    if like.accept("LIKE"):
        new_db, new_name = like.table(db)
        return Step(Does.CREATE_TABLE, *table, new_db=new_db, new_name=new_name)
    if group is None or _selects(words):
        return Step(Does.CREATE_TABLE, *table)
    try:
        columns, key = _columns(group)
    except Unreadable as error:
        return Step(Does.CREATE_TABLE, *table, text=str(error))
    return Step(Does.CREATE_TABLE, *table, columns=columns, key=key)


def _selects(words: Words) -> bool:
    """Tell whether columns come of a query, which may follow after options."""
    while not words.is_at_end:
        if words.next_is("SELECT", "AS", "WITH", "VALUES", "IGNORE", "REPLACE", "TABLE"):
            return True
        words.skip()
    return False


def _columns(group: Words) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    columns: list[Column] = []
    key: tuple[str, ...] = ()
    for part in group.parts():
        if (named := read_primary_key(part)) is not None:
            key = named
        elif not part.next_is(*_IN_TABLE):
            found = read_definition(part)
            columns.append(found.column())
            key = (found.name,) if found.is_key else key
    kept = tuple(
        replace(one, is_nullable=one.is_nullable and one.name not in key) for one in columns
    )
    return kept, key


def _truncate(words: Words, db: str) -> Iterator[Step]:
    words.accept("TABLE")
    yield Step(Does.TRUNCATE, *words.table(db))


def _drop(words: Words, db: str) -> Iterator[Step]:
    if words.accept("INDEX"):
        words.accept(*_EXISTS)
        if words.name().upper() == "PRIMARY":
            words.expect("ON")
            yield Step(Does.PRIMARY_KEY, *words.table(db))
        return
    if words.accept(*_DATABASE):
        words.accept(*_EXISTS)
        yield Step(Does.DROP_DATABASE, words.name())
    elif words.accept(*_TABLE):
        words.accept(*_EXISTS)
        for one in words.parts():
            yield Step(Does.DROP_TABLE, *one.table(db))
    elif not words.next_is(*_OBJECTS):
        raise words.unreadable("TABLE")


def _rename(words: Words, db: str) -> Iterator[Step]:
    if words.next_is("USER"):
        return
    words.expect(*_TABLE)
    words.accept(*_EXISTS)
    for one in words.parts():
        old = one.table(db)
        if one.accept("WAIT"):
            one.skip()
        one.accept("NOWAIT")
        one.expect("TO")
        new_db, new_name = one.table(db)
        one.end()
        yield Step(Does.RENAME_TABLE, *old, new_db=new_db, new_name=new_name)


_READERS = {
    "ALTER": _alter,
    "CREATE": _create,
    "DROP": _drop,
    "RENAME": _rename,
    "TRUNCATE": _truncate,
}
