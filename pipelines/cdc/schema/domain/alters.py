"""Reads the actions of ALTER TABLE, each by itself: one that is not known does not hide others."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from pipelines.cdc.schema.domain.definitions import Definition, read_default, read_definition
from pipelines.cdc.schema.domain.lexical import Unreadable, Words
from pipelines.cdc.schema.domain.statements import Does, Step

_INDEXES = ("INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "FOREIGN KEY", "CONSTRAINT", "CHECK")
_EXISTS = ("IF NOT EXISTS", "IF EXISTS")
_PRIMARY = "PRIMARY"
_OPTIONS = (
    *("ENGINE", "TYPE", "AUTO_INCREMENT", "AVG_ROW_LENGTH", "CHECKSUM", "COMMENT", "COMPRESSION"),
    *("CONNECTION", "DATA DIRECTORY", "INDEX DIRECTORY", "DELAY_KEY_WRITE", "ENCRYPTION"),
    *("ENCRYPTED", "ENCRYPTION_KEY_ID", "INSERT_METHOD", "KEY_BLOCK_SIZE", "MAX_ROWS", "MIN_ROWS"),
    *("PACK_KEYS", "PAGE_CHECKSUM", "PAGE_COMPRESSED", "PAGE_COMPRESSION_LEVEL", "PASSWORD"),
    *("ROW_FORMAT", "STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "TABLESPACE"),
    *("TRANSACTIONAL", "UNION", "STORAGE", "ALGORITHM", "LOCK", "DEFAULT CHARACTER SET"),
    *("DEFAULT CHARSET", "CHARACTER SET", "CHARSET", "DEFAULT COLLATE", "COLLATE", "ORDER BY"),
    *("ENABLE KEYS", "DISABLE KEYS", "FORCE", "WITH VALIDATION", "WITHOUT VALIDATION"),
    *("SECONDARY_ENGINE", "SECONDARY_LOAD", "SECONDARY_UNLOAD", "SEQUENCE", "NOWAIT", "WAIT"),
    *("ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE", "START TRANSACTION", "IETF_QUOTES"),
)
_REMOVING = (
    *("DROP PARTITION", "TRUNCATE PARTITION", "EXCHANGE PARTITION", "CONVERT PARTITION"),
    *("CONVERT TABLE", "IMPORT TABLESPACE", "IMPORT PARTITION", "DISCARD TABLESPACE"),
    *("DISCARD PARTITION",),
)
_PARTITIONING = (
    *("ADD PARTITION", "REORGANIZE PARTITION", "COALESCE PARTITION", "REMOVE PARTITIONING"),
    *("PARTITION BY", "ANALYZE PARTITION", "CHECK PARTITION", "OPTIMIZE PARTITION"),
    *("REBUILD PARTITION", "REPAIR PARTITION"),
)
_VERSIONING = ("SYSTEM VERSIONING", "PERIOD FOR")


class Alter:
    """The reader of the actions on one table."""

    def __init__(self, db: str, table: str) -> None:
        self._db = db
        self._table = table
        self._readers: dict[str, Callable[[Words], Iterator[Step]]] = {
            "ADD": self._add,
            "DROP": self._drop,
            "MODIFY": self._modify,
            "CHANGE": self._change,
            "ALTER": self._alter,
            "RENAME": self._rename,
            "CONVERT": self._convert,
        }

    def steps(self, words: Words) -> Iterator[Step]:
        """Yield what the actions do, in their order; what is not known as a step that says so."""
        if words.next_is(*_REMOVING, *_PARTITIONING):
            is_removing = words.next_is(*_REMOVING)
            yield self._rest(Does.REMOVE_ROWS if is_removing else Does.PARTITIONING, words)
            return
        for action in words.parts():
            text = action.rest
            try:
                yield from list(self._action(action))
            except Unreadable as error:
                yield self._step(Does.UNREAD, text=f"{text}: {error}")

    def _action(self, words: Words) -> Iterator[Step]:
        if words.word() in self._readers:
            reader = self._readers[words.word()]
            words.skip()
            yield from reader(words)
            words.end()
        else:
            yield self._options(words)

    def _step(self, does: Does, **said: object) -> Step:
        return replace(Step(does, self._db, self._table), **said)

    def _add(self, words: Words) -> Iterator[Step]:
        if words.next_is(*_VERSIONING):
            raise words.unreadable("something else than versions of rows")
        if (key := read_primary_key(words)) is not None:
            yield self._step(Does.PRIMARY_KEY, key=key)
        elif words.next_is(*_INDEXES):
            yield self._rest(Does.INDEX, words)
        else:
            words.accept("COLUMN")
            is_optional = words.accept(*_EXISTS)
            group = words.group()
            for one in group.parts() if group else [words]:
                yield from self._added(one, is_optional=is_optional)

    def _added(self, words: Words, *, is_optional: bool) -> Iterator[Step]:
        """An index may stand between the columns in parentheses."""
        if (key := read_primary_key(words)) is not None:
            yield self._step(Does.PRIMARY_KEY, key=key)
        elif words.next_is(*_INDEXES):
            yield self._rest(Does.INDEX, words)
        else:
            found = read_definition(words)
            yield self._defined(Does.ADD_COLUMN, found.name, found, is_optional=is_optional)
            yield from self._key_of(found)

    def _modify(self, words: Words) -> Iterator[Step]:
        words.accept("COLUMN")
        is_optional = words.accept(*_EXISTS)
        found = read_definition(words)
        yield self._defined(Does.MODIFY_COLUMN, found.name, found, is_optional=is_optional)
        yield from self._key_of(found)

    def _change(self, words: Words) -> Iterator[Step]:
        words.accept("COLUMN")
        is_optional = words.accept(*_EXISTS)
        old = words.name()
        found = read_definition(words)
        yield self._defined(Does.MODIFY_COLUMN, old, found, is_optional=is_optional)
        yield from self._key_of(found)

    def _drop(self, words: Words) -> Iterator[Step]:
        if words.next_is(*_VERSIONING):
            raise words.unreadable("something else than versions of rows")
        if words.accept("PRIMARY KEY"):
            yield self._step(Does.PRIMARY_KEY)
        elif words.accept("INDEX", "KEY", "FOREIGN KEY", "CONSTRAINT", "CHECK"):
            words.accept(*_EXISTS)
            is_primary = words.name().upper() == _PRIMARY
            yield self._step(Does.PRIMARY_KEY if is_primary else Does.INDEX)
        else:
            words.accept("COLUMN")
            is_optional = words.accept(*_EXISTS)
            yield self._step(Does.DROP_COLUMN, column=words.name(), is_optional=is_optional)
            words.accept("RESTRICT", "CASCADE")

    def _alter(self, words: Words) -> Iterator[Step]:
        if words.next_is("INDEX", "KEY", "CHECK", "CONSTRAINT"):
            yield self._rest(Does.INDEX, words)
            return
        words.accept("COLUMN")
        words.accept(*_EXISTS)
        column = words.name()
        if words.accept("SET DEFAULT"):
            yield self._step(Does.SET_DEFAULT, column=column, value=read_default(words))
        elif words.accept("DROP DEFAULT"):
            yield self._step(Does.SET_DEFAULT, column=column)
        else:
            words.expect("SET")
            shown = "1" if words.next_is("VISIBLE") else "0"
            words.expect("VISIBLE", "INVISIBLE")
            yield self._step(Does.SET_VISIBLE, column=column, value=shown)

    def _rename(self, words: Words) -> Iterator[Step]:
        if words.accept("COLUMN"):
            is_optional = words.accept(*_EXISTS)
            old = words.name()
            words.expect("TO")
            yield self._step(
                Does.RENAME_COLUMN, column=old, new_name=words.name(), is_optional=is_optional
            )
        elif words.next_is("INDEX", "KEY"):
            yield self._rest(Does.INDEX, words)
        else:
            words.accept("TO", "AS", "=")
            db, table = words.table(self._db)
            yield self._step(Does.RENAME_TABLE, new_db=db, new_name=table)

    def _convert(self, words: Words) -> Iterator[Step]:
        words.expect("TO CHARACTER SET", "TO CHARSET")
        yield self._step(Does.CHARSET, value=(words.string() or words.name()).lower())
        if words.accept("COLLATE"):
            words.accept("=")
            words.skip()

    def _options(self, words: Words) -> Step:
        """Options follow one another with or without a comma; partitions may come last."""
        text = words.rest
        while not words.is_at_end:
            if words.next_is("PARTITION BY"):
                return self._step(Does.PARTITIONING, text=text)
            if words.accept("ORDER BY"):
                return self._rest(Does.OPTION, words)
            if not words.accept(*_OPTIONS):
                raise words.unreadable("an action")
            if words.accept("=") or not words.next_is(*_OPTIONS, "PARTITION BY"):
                words.skip()
        return self._step(Does.OPTION, text=text)

    def _rest(self, does: Does, words: Words) -> Step:
        text = words.rest
        while not words.is_at_end:
            words.skip()
        return self._step(does, text=text)

    def _defined(
        self, does: Does, column: str, found: Definition, *, is_optional: bool = False
    ) -> Step:
        return self._step(
            does,
            column=column,
            definition=found.column(),
            place=found.place,
            is_optional=is_optional,
        )

    def _key_of(self, found: Definition) -> Iterator[Step]:
        if found.is_key:
            yield self._step(Does.PRIMARY_KEY, key=(found.name,))


def read_primary_key(words: Words) -> tuple[str, ...] | None:
    """Read `[CONSTRAINT name] PRIMARY KEY (..)`; None where none is next.

    Raises:
        Unreadable: it has no columns.
    """
    named = words.next_is("CONSTRAINT")
    ahead = 1 if words.word(1) == _PRIMARY else 2
    if not (words.next_is("PRIMARY KEY") or (named and words.word(ahead) == _PRIMARY)):
        return None
    if words.accept("CONSTRAINT") and ahead == 2:
        words.name()
    words.expect("PRIMARY KEY")
    while not words.is_at_end and words.word() != "(":
        words.skip()
    group = words.group()
    if group is None:
        raise words.unreadable("columns of a key")
    columns = tuple(part.name() for part in group.parts())
    while not words.is_at_end:
        words.skip()
    return columns
