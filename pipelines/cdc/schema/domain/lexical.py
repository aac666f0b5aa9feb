"""Splits a statement of MySQL into words, with comments gone and executable comments taken as text.

sqlglot's tokenizer for MySQL does the splitting; its keywords and commands are switched off, for
the binary log has statements that none of its trees can hold.
"""

import re
from collections.abc import Iterable
from typing import Self

from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

STRING = r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\""
_COMMENT = re.compile(
    rf"(?P<kept>{STRING}|`(?:[^`]|``)*`)|/\*M?!\d{{0,6}}(?P<inside>.*?)\*/|/\*.*?\*/"
    r"|--(?=\s|$)[^\n]*|\#[^\n]*",
    re.DOTALL,
)
_QUOTED = {TokenType.IDENTIFIER}
_STRINGS = {TokenType.STRING, TokenType.NATIONAL_STRING}
_LITERALS = {*_STRINGS, TokenType.NUMBER, TokenType.BIT_STRING, TokenType.HEX_STRING}
_PROGRAMS = {"PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "PACKAGE"}
_OPEN, _CLOSE = {"(", "["}, {")", "]"}


class _Tokenizer(MySQL.Tokenizer):
    KEYWORDS = {}
    COMMANDS = set()
    COMMENTS = []


class Unreadable(Exception):
    """A statement has something that is not known here; the message says what."""


def without_comments(text: str) -> str:
    """Remove comments; the text inside of executable ones (`/*! */`, `/*M! */`) is kept.

    Executable comments are kept whatever version of the server they name.
    """

    def kept(found: re.Match[str]) -> str:
        return found["kept"] or f" {found['inside'] or ''} "

    return _COMMENT.sub(kept, text)


class Words:
    """The words of a part of a statement, read one after another."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0

    @classmethod
    def of(cls, statement: str) -> Self:
        """Split a statement.

        Raises:
            Unreadable: a string, a name or a comment does not end.
        """
        text = without_comments(statement)
        try:
            tokens = _Tokenizer(dialect="mysql").tokenize(text)
        except SqlglotError as error:
            raise Unreadable("a string or a name has no end") from error
        while tokens and tokens[-1].text == ";":
            tokens.pop()
        return cls(text, tokens)

    @property
    def has_semicolon(self) -> bool:
        """Whether a semicolon stands between two words."""
        return any(token.token_type is TokenType.SEMICOLON for token in self._tokens)

    @property
    def is_compound(self) -> bool:
        """Whether it is more than one statement, and not the body of a stored program."""
        for token in self._tokens:
            if token.token_type is TokenType.SEMICOLON:
                return True
            if token.token_type is TokenType.VAR and token.text.upper() in _PROGRAMS:
                return False
        return False

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._tokens)

    @property
    def rest(self) -> str:
        """The text that is left."""
        if self.is_at_end:
            return ""
        return self._text[self._tokens[self._at].start : self._tokens[-1].end + 1]

    def word(self, ahead: int = 0) -> str:
        """Return a word in upper case without reading it; a quoted name or a literal has none."""
        at = self._at + ahead
        if at >= len(self._tokens):
            return ""
        token = self._tokens[at]
        return "" if token.token_type in _QUOTED | _LITERALS else token.text.upper()

    def next_is(self, *phrases: str) -> bool:
        """Tell whether one of the phrases is next."""
        return any(
            all(self.word(ahead) == word for ahead, word in enumerate(phrase.split()))
            for phrase in phrases
        )

    def accept(self, *phrases: str) -> bool:
        """Read the first of the phrases that is next; False where none is."""
        for phrase in phrases:
            if self.next_is(phrase):
                self._at += len(phrase.split())
                return True
        return False

    def expect(self, *phrases: str) -> None:
        """Read one of the phrases.

        Raises:
            Unreadable: none is next.
        """
        if not self.accept(*phrases):
            raise self.unreadable(" or ".join(phrases))

    def name(self) -> str:
        """Read an identifier; in double quotes it is one where the server has ANSI_QUOTES."""
        if self.is_at_end:
            raise self.unreadable("a name")
        token = self._tokens[self._at]
        is_quoted = token.token_type in _QUOTED or self._text[token.start] == '"'
        if not is_quoted and (
            token.token_type in _LITERALS or not re.fullmatch(r"[\w$]+", token.text)
        ):
            raise self.unreadable("a name")
        self._at += 1
        return token.text

    def table(self, db: str) -> tuple[str, str]:
        """Read the name of a table, of a database where none stands before it."""
        first = self.name()
        return (first, self.name()) if self.accept(".") else (db, first)

    def string(self) -> str | None:
        """Read a text, unquoted; None where none is next."""
        if self.is_at_end or self._tokens[self._at].token_type not in _STRINGS:
            return None
        self._at += 1
        return str(self._tokens[self._at - 1].text)

    def literal(self) -> str | None:
        """Read a text or a number as it is written; None where none is next."""
        if self.is_at_end or self._tokens[self._at].token_type not in _LITERALS:
            return None
        token = self._tokens[self._at]
        self._at += 1
        return self._text[token.start : token.end + 1]

    def group(self) -> "Words | None":
        """Read what parentheses enclose; None where none open here.

        Raises:
            Unreadable: they do not close.
        """
        if self.word() != "(":
            return None
        begin, depth = self._at + 1, 0
        for at in range(self._at, len(self._tokens)):
            depth += self._depth(at)
            if depth == 0:
                self._at = at + 1
                return Words(self._text, self._tokens[begin:at])
        raise Unreadable("a parenthesis does not close")

    def skip(self) -> None:
        """Read a word, a literal or a whole group, whatever it is."""
        if self.group() is None:
            self._at += 1

    def parts(self) -> "Iterable[Words]":
        """Return what is left, split at the commas outside of parentheses."""
        begin, depth = self._at, 0
        for at in range(self._at, len(self._tokens)):
            depth += self._depth(at)
            if depth == 0 and self._tokens[at].token_type is TokenType.COMMA:
                yield Words(self._text, self._tokens[begin:at])
                begin = at + 1
        if depth:
            raise Unreadable("a parenthesis does not close")
        if begin < len(self._tokens):
            yield Words(self._text, self._tokens[begin:])

    def end(self) -> None:
        """Check that nothing is left.

        Raises:
            Unreadable: something is.
        """
        if not self.is_at_end:
            raise self.unreadable("the end")

    def unreadable(self, wanted: str) -> Unreadable:
        """Return the error that says what was looked for, and what is there."""
        return Unreadable(f"{wanted} was expected before {self.rest[:60]!r}")

    def _depth(self, at: int) -> int:
        token = self._tokens[at]
        if token.token_type in _QUOTED | _LITERALS:
            return 0
        return (token.text in _OPEN) - (token.text in _CLOSE)
