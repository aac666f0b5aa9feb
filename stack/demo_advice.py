"""The demo's story of an advice, played beside the days: readers, an advice, its trial, its effect.

Readers ask for shipments by product and shop on each played day, in a Spark of their own that tells
the portal of each query. The table's policy says `auto`: what these scans speak for is tried on a
branch, applied and measured by the portal itself, day by day.
"""

from dataclasses import dataclass
from pathlib import Path

from portal.connectors.metastore import Metastore
from stack.demo_days import Made
from stack.demo_optimizer import make_report_token, poll_tables, set_policy
from stack.lake import shipments
from stack.programs import Programs
from stack.stack import LAKE, Stack

QUESTIONS_A_DAY = 55
"""Two days of them are enough for an advice that may be applied by itself."""
_POLICY = (
    *(shipments.SHIPMENTS, "iceberg", shipments.POLICY),
    "People look for what a product or a shop was sent",
)


@dataclass(frozen=True)
class AdviceStory:
    """One day after the other; `programs` runs nothing else meanwhile."""

    stack: Stack
    programs: Programs
    made: Made
    report_uri: str
    token_file: Path

    def play_day(self) -> None:
        """Have readers ask, and then the portal do what is due of advice."""
        with Metastore.connect(self.stack.config()) as metastore:
            if not shipments.is_there(metastore):
                return
        make_report_token(self.programs, self.made, self.token_file)
        if not self.made.has("advice"):
            poll_tables(self.programs, self.made)
            set_policy(self.programs, _POLICY)
            self.made.keep("advice")
        told = (str(self.stack.lakes_file), self.report_uri, str(self.token_file))
        readers = ("-m", "stack.lake.readers", *told)
        self.programs.tell(readers, str(QUESTIONS_A_DAY), named=("the readers of shipments",))
        self.programs.portal("advice_day", LAKE)
