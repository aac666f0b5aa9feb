"""Runs `./lakewarden demo | test | check | stop` once the set-up is done."""

import os
import sys
from collections.abc import Sequence

from stack.check import run_check
from stack.demo import Demo, stop
from stack.demo_checks import mend
from stack.errors import StackError
from stack.gate import run_gate
from stack.places import var_directory
from stack.say import console

_TWO_LAKES = ("--lakes", "2")


def _demo(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--mend"]:
        return mend(var_directory())
    words = list(arguments)
    has_second = " ".join(_TWO_LAKES) in " ".join(words)
    unknown = [word for word in words if word not in {"--detach", *(_TWO_LAKES * has_second)}]
    port = os.environ.get("PORT", "8000")
    if unknown or not port.isdigit() or not 0 < int(port) < 65536:
        console.print(f"Cannot read {' '.join(unknown) or f'PORT={port}'}: see ./lakewarden help.")
        return 2
    return Demo(port=int(port), detach="--detach" in words, has_second=has_second).run()


def main(arguments: Sequence[str]) -> int:
    """Do one command."""
    command, rest = arguments[0], arguments[1:]
    try:
        if command == "demo":
            return _demo(rest)
        if command == "test":
            return run_gate(rest)
        if command == "check":
            return run_check(rest)
        return stop()
    except StackError as error:
        console.print(f"[red]Stopped:[/] {error}", markup=True)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
