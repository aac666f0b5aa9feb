"""The portal's management commands behind a pipe: one JSON list of words in, its lines out.

Starting Django takes longer than most commands that set a demo up, so they share one process. A
line of END and the exit status follows each command's own lines.
"""

import json
import sys
import traceback

import django
from django.core.management import CommandError, call_command

from stack.say import END


def main() -> None:
    """Serve until end of file."""
    django.setup()
    for line in sys.stdin:
        status = 0
        try:
            call_command(*json.loads(line))
        except CommandError as error:
            print(error)
            status = 1
        except Exception:  # the pipe must say how each command ended
            traceback.print_exc(file=sys.stdout)
            status = 1
        print(f"{END}{status}", flush=True)


if __name__ == "__main__":
    main()
