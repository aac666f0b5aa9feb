"""Reads the definition of a column, as CREATE TABLE and ALTER TABLE have it."""

from dataclasses import dataclass

from pipelines.cdc.changes.domain.schemas import Column
from pipelines.cdc.schema.domain.lexical import Unreadable, Words
from pipelines.cdc.schema.domain.types import parse_type, type_words
from portal.lake.errors import RuleViolation

_MODIFIERS = ("UNSIGNED", "SIGNED", "ZEROFILL", "BYTE", "COMPRESSED")


@dataclass(slots=True)
class Definition:
    """A column while it is read, with what belongs to its table."""

    name: str
    type: str
    is_nullable: bool = True
    is_generated: bool = False
    is_invisible: bool = False
    charset: str = ""
    default: str | None = None
    comment: str = ""
    is_key: bool = False
    place: str | None = None

    def column(self) -> Column:
        """Return it as a schema has it; columns of a primary key are never NULL."""
        return Column(
            name=self.name,
            type=self.type,
            is_nullable=self.is_nullable and not self.is_key,
            is_generated=self.is_generated,
            is_invisible=self.is_invisible,
            charset=self.charset,
            default=self.default,
            comment=self.comment,
        )


def read_definition(words: Words) -> Definition:
    """Read name, type and attributes to the end of the words.

    Raises:
        Unreadable: something in it is not known.
    """
    found = Definition(words.name(), "")
    if words.next_is("SERIAL"):
        found.is_nullable = False
    found.type = _type(words)
    while not words.is_at_end:
        if not (_value(words, found) or _kept(words, found) or _skipped(words)):
            raise words.unreadable("an attribute of a column")
    return found


def read_default(words: Words) -> str | None:
    """Read the value after DEFAULT as it is written; None is NULL."""
    if words.accept("NULL"):
        return None
    if words.next_is("("):
        group = words.group()
        return f"({group.rest})" if group else None
    sign = "-" if words.accept("-") else ""
    words.accept("+")
    if (value := words.literal()) is not None:
        return sign + value
    if words.word().startswith("_"):  # the charset of a text, as in _utf8mb4'x'
        words.skip()
        return words.literal()
    name = words.name().lower()
    return name if (group := words.group()) is None else f"{name}({group.rest})"


def _type(words: Words) -> str:
    name = type_words([words.word(ahead).lower() for ahead in range(4)])
    if not name:
        raise words.unreadable("a type")
    words.expect(name.upper())
    text = name
    if (group := words.group()) is not None:
        text += f"({','.join(part.rest for part in group.parts())})"
    while words.next_is(*_MODIFIERS):
        text += f" {words.word().lower()}"
        words.skip()
        if words.accept("="):
            words.skip()
    try:
        parse_type(text)
    except RuleViolation as error:
        raise Unreadable(error.message) from error
    return text


def _value(words: Words, found: Definition) -> bool:
    """Read an attribute that has a value; False where none is next."""
    if words.accept("DEFAULT"):
        found.default = read_default(words)
    elif words.accept("COMMENT"):
        words.accept("=")
        found.comment = words.string() or ""
    elif words.accept("CHARACTER SET", "CHARSET", "CHAR SET"):
        words.accept("=")
        found.charset = (words.string() or words.name()).lower()
    elif words.accept("COLLATE"):
        words.accept("=")
        collation = (words.string() or words.name()).lower()
        found.charset = found.charset or collation.split("_")[0]
    elif words.accept("AFTER"):
        found.place = words.name()
    elif words.accept("FIRST"):
        found.place = ""
    else:
        return False
    return True


def _kept(words: Words, found: Definition) -> bool:
    """Read an attribute without a value; False where none is next."""
    if words.accept("NOT NULL", "AUTO_INCREMENT"):
        found.is_nullable = False
    elif words.accept("NULL"):
        found.is_nullable = True
    elif words.accept("UNIQUE KEY", "UNIQUE"):
        pass
    elif words.accept("PRIMARY KEY", "PRIMARY", "KEY"):
        found.is_key = True
    elif words.accept("GENERATED ALWAYS AS", "AS"):
        if words.group() is None:
            raise words.unreadable("an expression in parentheses")
        words.accept("VIRTUAL", "STORED", "PERSISTENT")
        found.is_generated = True
    elif words.accept("INVISIBLE"):
        found.is_invisible = True
    elif words.accept("VISIBLE"):
        found.is_invisible = False
    else:
        return False
    return True


def _skipped(words: Words) -> bool:
    """Read what says nothing about values; False where none is next."""
    if words.accept("CONSTRAINT") and not words.next_is("CHECK"):
        words.name()
    if words.accept("ASCII", "UNICODE", "BINARY", "NOT ENFORCED", "ENFORCED"):
        return True
    if words.accept("SERIAL DEFAULT VALUE", "WITHOUT SYSTEM VERSIONING", "WITH SYSTEM VERSIONING"):
        return True
    if words.accept("CHECK"):
        words.skip()
    elif words.accept("COLUMN_FORMAT", "STORAGE", "SRID", "REF_SYSTEM_ID", "ENGINE_ATTRIBUTE"):
        words.accept("=")
        words.skip()
    elif words.accept("ON UPDATE", "ON DELETE"):
        if not words.accept("SET NULL", "SET DEFAULT", "NO ACTION"):
            words.skip()
            words.group()
    elif words.accept("REFERENCES"):
        words.table("")
        words.group()
        if words.accept("MATCH"):
            words.skip()
    else:
        return False
    return True
