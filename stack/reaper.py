"""Who cleans up when the owner of a stack dies without a word (kill -9, a crashed test run).

Started by the owner with a pipe on its standard input. End of file on that pipe means that the
owner is gone, however it went; then everything in stack.json is ended.
"""

import signal
import sys
from pathlib import Path

from stack.ledger import Ledger


def main() -> int:
    """Wait for the owner's end, then end its stack."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    ledger = Ledger(Path(sys.argv[1]))
    ledger.end_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
