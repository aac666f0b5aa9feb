"""How the demo comes to be and is served: a stack, a lake, nine played days, the portal.

The first run makes everything under var/demo; later runs serve what is there. A first run that was
broken off goes on where it stood, but a half-made lake is begun again. The site is served as soon
as the first day is played; workers and supervisor start after the last one, because the days are
played in the past and no scan of today may come between them.
"""

import json
import os
import shutil
import signal
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType

from rich.table import Table

from portal.connectors.metastore import Metastore
from stack.demo_advice import AdviceStory
from stack.demo_checks import CheckStory, set_up_readiness
from stack.demo_clusters import set_up_front_ends
from stack.demo_days import N_PLAYED_DAYS, Made, Progress, played_days
from stack.demo_lakes import SECOND_MADE, fill_second, write_on
from stack.demo_optimizer import make_report_token, set_up_optimizer
from stack.demo_shop import PASSWORD, open_shop
from stack.errors import StackError
from stack.lake import clicks
from stack.lake.plan import DATABASES
from stack.ledger import Ledger
from stack.people import ADMINS, DEMO_PASSWORD, OPERATORS, OWNERS, log_ins
from stack.places import var_directory
from stack.process import port_answers, start_time
from stack.programs import Programs
from stack.say import console, step
from stack.servers.base import Server
from stack.servers.lake_writer import LakeWriter
from stack.servers.portal import RefreshWorker, RestoreWorker, Site, Supervisor, Worker
from stack.servers.stream_writer import StreamWriter
from stack.stack import LAKE, Stack

LAKE_MADE, FORMATS_MADE = "lake", "formats"
RECORDED_QUERIES = "lab.recorded_queries"
GUARDED = "guarded"
"""The last step of the first run."""


class Demo:
    """The demo under one var folder, on one port.

    A second lake that was once asked for stays.
    """

    def __init__(self, *, port: int, detach: bool, has_second: bool = False) -> None:
        self.var = var_directory()
        self.port = port
        self.detach = detach
        self.made = Made(self.var / "made.json")
        self.has_second = has_second or self.made.has(SECOND_MADE)
        self.started = time.monotonic()

    def run(self) -> int:
        """Make what is missing, serve; returns after Ctrl-C, or at once when detached."""
        if self._is_served():
            self._print_welcome()
            console.print("It runs already. [bold]./lakewarden stop[/] ends it.")
            return 0
        if self._is_being_made():
            self._print_welcome()
            console.print(
                "Its days are still being played; the command that began it says how far."
            )
            return 0
        if port_answers(self.port) and not self._is_ours():
            console.print(
                f"[red]Port {self.port} is in use by another program.[/] "
                f"Choose another: PORT=8001 ./lakewarden demo"
            )
            return 2
        self.started = time.monotonic()
        Ledger(self.var / "stack.json").end_all()
        if self.var.exists() and not (self.made.has(LAKE_MADE) and self._has_formats()):
            shutil.rmtree(self.var)
        stack = Stack.embedded(
            self.var,
            owned=not self.detach,
            recorded_queries=RECORDED_QUERIES,
            has_second=self.has_second,
        )
        _end_on_signals()
        try:
            self._serve(stack)
            self._print_welcome()
            console.print(f"Everything is up after {time.monotonic() - self.started:.0f} s.")
            if self.detach:
                console.print("[bold]./lakewarden stop[/] ends it.")
                return 0
            console.print("Ctrl-C ends it.")
            _wait_while_alive(stack)
        except KeyboardInterrupt:
            console.print("Ending.")
        except BaseException:
            stack.stop()
            raise
        stack.stop()
        return 0

    # -- steps -----------------------------------------------------------------------------

    def _serve(self, stack: Stack) -> None:
        with step("Servers: Derby, Hive Metastore, Redis, mail"):
            stack.start(lambda line: console.print(f"  [dim]{line}[/]"))
        settings = {**stack.env, **PASSWORD}
        settings["LAKEWARDEN_BASE_URL"] = f"http://127.0.0.1:{self.port}"
        settings["LAKEWARDEN_TOUR_SINCE"] = self.made.since
        settings["LAKEWARDEN_DEMO_PROGRESS"] = str(self.var / "played.json")
        environment = {**stack.ledger.environment(), **settings}
        environment["DJANGO_SETTINGS_MODULE"] = "portal.settings.development"
        stack.ledger.note(maker=[os.getpid(), start_time(os.getpid())])
        site = Site(self.var, ledger=stack.ledger, settings=settings, port=self.port)
        servers: list[Server] = [
            Worker(self.var, ledger=stack.ledger, settings=settings),
            RestoreWorker(self.var, ledger=stack.ledger, settings=settings),
            Supervisor(self.var, ledger=stack.ledger, settings=settings),
            RefreshWorker(self.var, ledger=stack.ledger, settings=settings),
        ]
        with ThreadPoolExecutor(1) as beside, Programs(environment) as programs:
            self._fill(stack, site, servers, programs, beside)
        self._write_on(stack)
        stack.ledger.note(maker=None)

    def _fill(
        self,
        stack: Stack,
        site: Site,
        servers: Sequence[Server],
        programs: Programs,
        beside: Executor,
    ) -> None:
        """Make the lake, serve it, play the days, and set up what comes after them."""
        self._make_lake(programs)
        formats = None
        if not self._has_formats():
            formats = beside.submit(self._run_on_lake, programs, "formats")
        site.start()
        is_again = self.made.has(GUARDED)
        with self.made.once("databases", "How far each database is trusted") as todo:
            if todo:
                self._set_up_databases(stack, programs)
        with Programs(programs.environment) as others:
            uri = self._report_uri
            story = AdviceStory(stack, others, self.made, uri, self._token_file)
            checks = CheckStory(stack, others, self.made)
            self._play_days(stack, site, programs, formats, beside=beside, stories=(story, checks))
        if self.has_second:
            fill_second(programs, self.made)
        # Where nothing is left to make they wait for the page alone, which would come later.
        for server in servers if is_again else ():
            server.start()
        set_up_optimizer(stack, programs, self.made)
        make_report_token(programs, self.made, self._token_file)
        set_up_readiness(stack, programs, self.made)
        set_up_front_ends(stack, programs, self.made)
        capture = open_shop(stack, programs, self.made, site.settings)
        if capture is not None:
            capture.start()
        with step("The portal's workers and supervisor"):
            for server in () if is_again else servers:
                server.start()
            for server in servers:
                server.wait_ready()
        with self.made.once(GUARDED, "People who touch LEVEL and TTL, and drop a table") as todo:
            if todo:
                site.process.wait_until(lambda: site.follows(LAKE), timeout_seconds=60)
                programs.run("-m", "stack.lake.guarded", str(stack.lakes_file))

    def _has_formats(self) -> bool:
        """Whether Iceberg and Hudi tables are made; a demo of an earlier version never said so."""
        return self.made.has(FORMATS_MADE) or self.made.has(GUARDED)

    def _write_on(self, stack: Stack) -> None:
        """Have tables written: for front ends to take in, and one for the optimizer to repair."""
        write_on(stack)
        with Metastore.connect(stack.config()) as metastore:
            has_clicks = clicks.is_there(metastore)
        if has_clicks:
            with step(f"A stream that leaves small files in {clicks.LIVE}, until it ends"):
                StreamWriter(
                    self.var,
                    ledger=stack.ledger,
                    lakes=stack.lakes_file,
                    report_uri=self._report_uri,
                    token_file=self._token_file,
                ).start()

    def _make_lake(self, programs: Programs) -> None:
        """Make the lake, and the portal's database beside it."""
        with ThreadPoolExecutor(1) as beside:
            people = beside.submit(self._make_people, programs)
            with self.made.once(LAKE_MADE, "A lake, made through Spark and the metastore") as todo:
                if todo:
                    self._run_on_lake(programs, "make")
            with step("The portal's database, people and their log-ins"):
                people.result()
        if not self.made.has("people"):
            self.made.keep("people")

    @staticmethod
    def _run_on_lake(programs: Programs, module: str) -> None:
        programs.run("-m", f"stack.lake.{module}", programs.environment["LAKEWARDEN_LAKES"])

    def _make_people(self, programs: Programs) -> None:
        programs.portal("migrate", "--noinput", "-v", "0")
        if self.made.has("people"):
            return
        people = self.var / "people.json"
        people.touch(mode=0o600)
        people.write_text(json.dumps(log_ins()), encoding="utf-8")
        programs.portal("create_people", "--file", str(people))
        programs.portal("sync_directory")

    def _play_days(
        self,
        stack: Stack,
        site: Site,
        programs: Programs,
        formats: Future[None] | None,
        *,
        beside: Executor,
        stories: tuple[AdviceStory, CheckStory],
    ) -> None:
        """Play the days that are not played yet, the oldest first; serve after the first.

        The first one may scan while `formats` are still being made, the others see them whole and
        have their part of the stories beside the scan.
        """
        now, days = datetime.now(UTC), played_days()
        progress = Progress(self.var / "played.json", n_days=len(days))
        is_served = False
        for day, ago in enumerate(days, start=1):
            number, moment = N_PLAYED_DAYS - 1 - ago, now - timedelta(days=ago)
            if not self.made.has(f"day {number}"):
                left = progress.begin(day, days_ago=ago)
                title = f"Day {day} of {len(days)}, {moment:%Y-%m-%d}: scan, notices, mails{left}"
                with self.made.once(f"day {number}", title):
                    told = beside.submit(_play, stories, ago) if is_served else None
                    programs.portal("daily_cycle", "--now", moment.isoformat(), "--lake", LAKE)
                    if told is not None:
                        told.result()
                progress.done()
            if not is_served:
                is_served = True
                self._say_served(stack, site, n_left=len(days) - day)
                if formats is not None:
                    with self.made.once(FORMATS_MADE, "Iceberg and Hudi tables, begun before"):
                        formats.result()
        progress.end()

    def _say_served(self, stack: Stack, site: Site, *, n_left: int) -> None:
        site.wait_ready()
        stack.ledger.note(url=f"http://127.0.0.1:{self.port}", log_ins=self._log_ins())
        is_played = self.made.has(f"day {N_PLAYED_DAYS - 1}")
        if not is_played:
            self._print_welcome()
        console.print(f"Serving after {time.monotonic() - self.started:.0f} s.")
        if not is_played:
            console.print(
                f"Days left to play: {n_left}. Look around meanwhile; Home says how far they are."
            )

    @property
    def _report_uri(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/optimizer/v1/{LAKE}/index-reports"

    @property
    def _token_file(self) -> Path:
        return self.var / "reports.token"

    @staticmethod
    def _set_up_databases(stack: Stack, programs: Programs) -> None:
        """Say where owners may live in this lake, and move databases on from OBSERVE."""
        by = ["--lake", LAKE, "--user", next(iter(ADMINS)), "--reason", "Set up with the demo"]
        place = f"{stack.lake_root}/user/{{owner}}"
        names = [spec.name for spec in DATABASES]
        programs.portal("path_template", place, *names, *by)
        for mode in sorted({spec.mode for spec in DATABASES} - {"OBSERVE"}):
            names = [spec.name for spec in DATABASES if spec.mode == mode]
            programs.portal("database_mode", mode, *names, *by)

    # -- what is said ----------------------------------------------------------------------

    def _is_served(self) -> bool:
        ledger = Ledger(self.var / "stack.json")
        names = {record.name for record in ledger.running()}
        if not {"site", "supervisor"} <= names:
            return False
        self.port = int(str(ledger.fact("url") or f":{self.port}").rsplit(":", 1)[1])
        return port_answers(self.port)

    def _is_being_made(self) -> bool:
        """Whether another command is playing the days now."""
        ledger = Ledger(self.var / "stack.json")
        pid, began = ledger.fact("maker") or (0, None)
        is_at_work = bool(pid) and began is not None and start_time(pid) == began
        return is_at_work and self._is_ours()

    def _is_ours(self) -> bool:
        """Whether the site of this demo is up, at work or left by a command that was killed."""
        return any(one.name == "site" for one in Ledger(self.var / "stack.json").running())

    @staticmethod
    def _log_ins() -> dict[str, list[str]]:
        return {
            "owner": list(OWNERS)[:1],
            "admin": list(ADMINS),
            "operator": list(OPERATORS),
            "password": [DEMO_PASSWORD],
        }

    def _print_welcome(self) -> None:
        table = Table(title=f"Lakewarden: http://127.0.0.1:{self.port}", title_style="bold")
        for column in ("log in as", "password", "role"):
            table.add_column(column)
        rows = [("alice", "owner")]
        rows += [(name, "admin") for name in ADMINS] + [(name, "operator") for name in OPERATORS]
        for name, role in rows:
            table.add_row(name, DEMO_PASSWORD, role)
        console.print(table)
        console.print(f"Mails: {self.var / 'mail'}   logs: {self.var / 'logs'}")


def _play(stories: tuple[AdviceStory, CheckStory], days_ago: int) -> None:
    """Play a day of advice, and on the last day what checks find."""
    advice, checks = stories
    advice.play_day()
    if days_ago == 0:
        checks.play()


def _end_on_signals() -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def _wait_while_alive(stack: Stack) -> None:
    names = {record.name for record in stack.ledger.running()}
    writers = {name for name in names if name.startswith(LakeWriter.name)}
    while True:
        alive = {record.name for record in stack.ledger.running()}
        needed = {"site", "worker", "supervisor", "refresh-worker", *writers}
        needed |= {"metastore", "derby", "redis", "smtp"}
        if stack.second is not None:
            needed |= {server.name for server in stack.second.servers}
        gone = (needed | {server.name for server in stack.clusters.running()}) - alive
        if gone:
            raise StackError(
                f"{', '.join(sorted(gone))} ended by itself; see {stack.var / 'logs'}."
            )
        time.sleep(1)


def stop() -> int:
    """End the demo, whoever started it; says how much there was to end."""
    ledger = Ledger(var_directory() / "stack.json")
    n_ended = ledger.end_all(spare=[os.getpid(), os.getppid()])
    console.print("Nothing was running." if not n_ended else f"Ended {n_ended} processes.")
    return 0
