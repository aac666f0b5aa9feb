"""Says which tables a statement of the binary log changes, and how.

It reads the first words only: what became of the columns is told by the log's own table maps and
the server, so a dialect that is not understood costs nothing.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

Name = tuple[str, str]
"""Database and table."""


class Action(StrEnum):
    """What a statement does to a table."""

    CREATE = "create"
    ALTER = "alter"
    RENAME = "rename"
    EMPTY = "empty"
    """Rows go without row events: TRUNCATE, or a partition dropped or exchanged."""
    DROP = "drop"
    DROP_DATABASE = "drop_database"
    WRITE = "write"
    """Rows change without row events: the statement is logged itself."""


@dataclass(frozen=True, slots=True)
class Ddl:
    """What a statement does, to which tables; of a rename (old, new) for each."""

    action: Action
    tables: tuple[Name, ...]
    renames: tuple[tuple[Name, Name], ...] = ()


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    is_name: bool
    """Whether it is quoted as a name, so that it is no keyword."""

    @property
    def word(self) -> str:
        return "" if self.is_name else self.text.upper()


_TOKEN = re.compile(
    r"""
    (?P<space>\s+ | --(?=\s|$)[^\n]* | \#[^\n]* | /\*(?!M?!).*?\*/ | /\*M?!\d* | \*/)
    | `(?P<quoted>(?:[^`]|``)*)`
    | "(?P<double>(?:[^"\\]|\\.|"")*)"
    | (?P<string>'(?:[^'\\]|\\.|'')*')
    | (?P<word>[\w$\u0080-\uffff]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_WRITES = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "MERGE", "WITH"})
_LEADS = frozenset(
    {"TABLE", "TABLES", "IF", "NOT", "EXISTS", "OR", "REPLACE", "ONLINE", "OFFLINE", "IGNORE"}
)
_MOST_LETTERS = 1 << 20


def read_ddl(text: str, db: str) -> Ddl | None:
    """Read a statement that was run in a database; None where it changes no table.

    Comments are no part of it, but what MySQL runs inside of `/*! */` is.
    """
    tokens = _tokens(text[:_MOST_LETTERS])
    words = [one.word for one in tokens[:6]]
    match words[:2]:
        case ["CREATE" | "DROP", "TEMPORARY"] | ["CREATE", "UNIQUE" | "INDEX"]:
            return None
        case ["DROP", "DATABASE" | "SCHEMA"]:
            names = [one for one in tokens[2:] if one.word not in ("IF", "EXISTS")]
            return Ddl(Action.DROP_DATABASE, ((names[0].text, ""),)) if names else None
        case ["CREATE" | "ALTER" | "DROP" | "RENAME" | "TRUNCATE", *_]:
            return _table_ddl(tokens, words, db)
        case [verb, *_] if verb in _WRITES:
            return Ddl(Action.WRITE, tuple(_written(tokens, verb, db)))
    return None


def _written(tokens: list[_Token], verb: str, db: str) -> list[Name]:
    """Return the names that a statement may write to: one after INTO, else every name in it."""
    places = [n for n, one in enumerate(tokens) if one.is_name or one.text.isidentifier()]
    if verb in ("INSERT", "REPLACE", "LOAD"):
        into = [n + 1 for n in places if tokens[n].word == "INTO"]
        places = [n for n in places if n >= (into[0] if into else 1) and tokens[n].word != "TABLE"]
        places = places[:1]
    return [_Names(tokens, n, db).one() for n in places]


def _table_ddl(tokens: list[_Token], words: list[str], db: str) -> Ddl | None:
    verb = words[0]
    if verb != "TRUNCATE" and not {"TABLE", "TABLES"} & set(words):
        return None
    if "TEMPORARY" in words[:4]:
        return None
    at = 1
    while at < len(tokens) and tokens[at].word in _LEADS:
        at += 1
    names = _Names(tokens, at, db)
    match verb:
        case "RENAME":
            pairs = names.pairs()
            return Ddl(Action.RENAME, tuple(new for _, new in pairs), tuple(pairs))
        case "DROP":
            return Ddl(Action.DROP, tuple(names.listed()))
        case "TRUNCATE":
            return Ddl(Action.EMPTY, (names.one(),))
        case "CREATE":
            return Ddl(Action.CREATE, (names.one(),))
    return _alter(names)


def _alter(names: "_Names") -> Ddl:
    name = names.one()
    rest = names.rest()
    words = [one.word for one in rest]
    for at, (first, second) in enumerate(pairwise([*words, ""])):
        if (first, second) in (("DROP", "PARTITION"), ("TRUNCATE", "PARTITION")) or first in (
            "EXCHANGE",
            "DISCARD",
            "IMPORT",
        ):
            return Ddl(Action.EMPTY, (name,))
        if first == "RENAME" and second not in ("COLUMN", "INDEX", "KEY"):
            skip = 2 if second in ("TO", "AS") or rest[at + 1].text == "=" else 1
            new = _Names(rest, at + skip, name[0]).one()
            return Ddl(Action.RENAME, (new,), ((name, new),))
    return Ddl(Action.ALTER, (name,))


class _Names:
    """Names of tables from a place in the tokens on."""

    def __init__(self, tokens: list[_Token], at: int, db: str) -> None:
        self._tokens, self._at, self._db = tokens, at, db

    def one(self) -> Name:
        first = self._take()
        if self._is("."):
            self._at += 1
            return first, self._take()
        return self._db, first

    def listed(self) -> list[Name]:
        names = [self.one()]
        while self._is(","):
            self._at += 1
            names.append(self.one())
        return names

    def pairs(self) -> list[tuple[Name, Name]]:
        pairs = []
        while self._at < len(self._tokens):
            old = self.one()
            while self._at < len(self._tokens) and self._tokens[self._at].word != "TO":
                self._at += 1
            self._at += 1
            pairs.append((old, self.one()))
            if not self._is(","):
                break
            self._at += 1
        return pairs

    def rest(self) -> list[_Token]:
        return self._tokens[self._at :]

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1].text if self._at <= len(self._tokens) else ""

    def _is(self, text: str) -> bool:
        if self._at >= len(self._tokens):
            return False
        return self._tokens[self._at].text == text and not self._tokens[self._at].is_name


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in _TOKEN.finditer(text):
        match match.lastgroup:
            case "quoted":
                found.append(_Token(match["quoted"].replace("``", "`"), is_name=True))
            case "double":
                found.append(_Token(match["double"].replace('""', '"'), is_name=True))
            case "string":
                found.append(_Token("", is_name=True))
            case "word" | "other":
                found.append(_Token(match[0], is_name=False))
    return found
