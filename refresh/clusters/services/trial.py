"""Tries a cluster before it is added: who responds, privileges, problems and next steps.

Only asks; nothing is stored, nothing refreshed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from portal.lake.errors import PortalError, RuleViolation
from refresh.clusters.domain.addresses import Place
from refresh.clusters.domain.frontends import Contact, FrontEnd
from refresh.clusters.domain.grants import Extent, extents, has_all_powerful, roles_in
from refresh.clusters.services.fe_client import PATIENT, Member, connected, greeted
from refresh.clusters.services.front_ends import listing
from refresh.clusters.services.reach import Reach, cluster_password, not_allowed
from refresh.clusters.services.table_names import lake_behind
from refresh.core.connectors.front_end import Budget, FrontEndClient, Login, contact_of
from refresh.core.domain.answers import Answer, ErrorKind
from refresh.core.domain.versions import Dialect
from refresh.models import Cluster

MOST_ADDRESSES = 20
USER_LENGTH = 128
_PATH_LENGTH = 1024
_ALLOWED = Reach()
_UNTESTED = "not tested: only version 3 and later tell it without acting"
_NEEDED_FOR = {
    "SELECT": "their front ends are not compared with each other and with the metastore.",
    "ALTER": "they are not refreshed until it is granted; that is tried again by itself.",
}
_NEXT = {
    ErrorKind.FE_REFUSED: "nothing listens there. Is it up, and is this its query port (9030)?",
    ErrorKind.FE_SILENT: "no front end answers there in time. Is it frozen, behind a firewall, "
    "is its name known here, or is it another program's port?",
    ErrorKind.BAD_LOGIN: "it refuses the login. Compare the user and the password in the file.",
}


@dataclass(frozen=True, slots=True)
class ClusterParams:
    """How somebody wants to reach a cluster."""

    addresses: tuple[str, ...]
    user: str
    password_file: str

    def places(self) -> tuple[Place, ...]:
        """Return the addresses, each once.

        Raises:
            RuleViolation: one is none, there are none or too many, or the user is no name.
        """
        found = tuple(dict.fromkeys(Place.read(one) for one in self.addresses if one.strip()))
        if not 0 < len(found) <= MOST_ADDRESSES:
            raise RuleViolation(
                "cluster.addresses",
                f"Give 1-{MOST_ADDRESSES} addresses of front ends, for example "
                "fe1.example.org:9030.",
            )
        if not 0 < len(self.user) <= USER_LENGTH or not self.user.isprintable():
            raise RuleViolation("cluster.user", f"Give a user name of 1-{USER_LENGTH} signs.")
        if len(self.password_file) > _PATH_LENGTH:
            raise RuleViolation("cluster.password_file", "The path of the password file is longer "
                                f"than {_PATH_LENGTH} signs.")  # fmt: skip
        return found

    @classmethod
    def of(cls, cluster: Cluster) -> "ClusterParams":
        """Take how a cluster is reached now."""
        return cls(tuple(cluster.addresses), cluster.user, cluster.password_file)


@dataclass(frozen=True, slots=True)
class Reached:
    """A front end, and what came of our contact with it; empty words: it let us in."""

    place: str
    words: str = ""
    name: str = ""
    is_leader: bool = False


@dataclass(frozen=True, slots=True)
class StandsFor:
    """A catalog or resource, and the lake whose metastore it reads; empty if none is governed."""

    name: str
    uris: str
    lake: str


@dataclass(frozen=True, slots=True)
class Talk:
    """As whom and where a trial speaks to front ends, and for how long it listens."""

    login: Login
    budget: Budget
    reach: Reach


@dataclass(slots=True)
class TrialReport:
    """What a trial found. With problems a cluster is not added; warnings are to be known."""

    reached: list[Reached] = field(default_factory=list)
    version: str = ""
    dialect: Dialect | None = None
    rights: dict[str, str] = field(default_factory=dict)
    stands_for: list[StandsFor] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether the cluster can be added."""
        return not self.problems


def cluster_test(
    wish: ClusterParams, *, reach: Reach = _ALLOWED, budget: Budget = PATIENT
) -> TrialReport:
    """Try a cluster out; each front end is waited for as long as the budget says.

    Raises:
        NotAllowed: an address beyond `reach`.
        RuleViolation: an address that is none; everything else stands in the report.
    """
    report = TrialReport()
    given = [Member(place) for place in wish.places()]
    reach.check(member.place for member in given)
    try:
        login = Login(wish.user, cluster_password(wish.password_file))
    except PortalError as error:
        report.problems.append(error.message)
        return report
    talk = Talk(login, budget, reach)
    answers = greeted(given, login=login)
    listed = _list(report, given, answers, talk=talk)
    if listed:
        _look_at(report, listed, given, talk=talk)
    report.warnings = list(dict.fromkeys(report.warnings))
    return report


def cluster_retest(
    cluster: Cluster, wish: ClusterParams, *, reach: Reach = _ALLOWED, budget: Budget = PATIENT
) -> TrialReport:
    """Try out another way of reaching a cluster that is kept already.

    Raises:
        NotAllowed: an address beyond `reach` that the cluster does not have already.
        RuleViolation: an address that is none; everything else stands in the report.
    """
    known = ClusterParams.of(cluster).places()
    listed_now = [Place(fe.host, fe.query_port) for fe in cluster.front_ends.all()]
    report = cluster_test(
        wish, reach=replace(reach, known=frozenset([*known, *listed_now])), budget=budget
    )
    names = set(cluster.front_ends.values_list("name", flat=True))
    listed = {one.name for one in report.reached if one.name}
    if names and listed and not names & listed:
        report.warnings.append(
            f"None of the {len(names)} front ends that {cluster.name} had is listed there. If this "
            "is another cluster, add it under a name of its own: what is known of the tables of "
            "this one would be taken for the other's."
        )
    return report


def _list(
    report: TrialReport,
    given: Sequence[Member],
    answers: Mapping[Place, Answer | None],
    *,
    talk: Talk,
) -> list[FrontEnd]:
    """List the front ends by one that let us in; without any, say of each what is wrong."""
    for place, answer in answers.items():
        if answer is not None:
            report.reached.append(Reached(str(place), _words(answer)))
    open_ones = [member for member in given if answers[member.place] is None]
    if not open_ones:
        report.problems += [f"{one.place}: {one.words}" for one in report.reached]
        return []
    listed, problem = listing(open_ones, login=talk.login, budget=talk.budget)
    if problem:
        report.rights["OPERATE"] = "no: the front ends were not listed"
        report.problems.append(
            f"{problem}. To list the front ends the user needs the privilege OPERATE on the system."
        )
        return []
    report.warnings += [f"{one.place}: {one.words}" for one in report.reached]
    return listed


def _look_at(
    report: TrialReport, listed: Sequence[FrontEnd], given: Sequence[Member], *, talk: Talk
) -> None:
    members = [
        Member(Place(fe.host, fe.query_port), fe.version.dialect) for fe in listed if fe.query_port
    ]
    # What answered may be anybody's: where it sends us next is no more trusted than what was typed.
    outside = talk.reach.outside(member.place for member in members)
    if outside:
        report.problems.append(not_allowed(outside))
        return
    answers = greeted(members, login=talk.login)
    report.reached = [_reached(fe, answers) for fe in listed]
    leader = next((fe for fe in listed if fe.is_leader), listed[0])
    report.version, report.dialect = str(leader.version), leader.version.dialect
    report.rights = {
        "OPERATE": "yes: the front ends were listed",
        "SELECT": _UNTESTED,
        "ALTER": _UNTESTED,
    }
    _warn(report, listed, given)
    alive = [member for member in members if answers[member.place] is None]
    if not alive:
        report.problems += [f"{one.place}: {one.words}" for one in report.reached]
        return
    _names(report, alive, talk=talk)


def _reached(fe: FrontEnd, answers: Mapping[Place, Answer | None]) -> Reached:
    if not fe.query_port:
        return Reached(fe.host, "it is registered and has not started yet", fe.name)
    place = str(Place(fe.host, fe.query_port))
    answer = answers[Place(fe.host, fe.query_port)]
    return Reached(place, "" if answer is None else _words(answer), fe.name, fe.is_leader)


def _words(answer: Answer) -> str:
    known = _NEXT.get(answer.meaning)
    if known is None:
        return f"it said: {answer.short}"
    is_said = contact_of(answer) is Contact.ANSWERED
    return f"{known} It said: {answer.short}" if is_said else known


def _warn(report: TrialReport, listed: Sequence[FrontEnd], given: Sequence[Member]) -> None:
    own = {Place(fe.host, fe.query_port) for fe in listed}
    report.warnings += [f"{one.place}: {one.words}" for one in report.reached if one.words]
    for member in given:
        if member.place not in own:
            report.warnings.append(
                f"{member.place} is not how the cluster itself calls a front end: a balancer, or "
                "another name. It is only asked while no listed front end answers."
            )
    for host, n in Counter(fe.host for fe in listed).items():
        if n > 1:
            report.warnings.append(
                f"{n} front ends are on {host}: StarRocks takes those of one host for one, so a "
                "refresh that one of them takes does not reach the others there."
            )
    versions = sorted({str(fe.version) for fe in listed if str(fe.version)})
    if len(versions) > 1:
        report.warnings.append(f"The front ends differ in version: {', '.join(versions)}.")


def _names(report: TrialReport, alive: Sequence[Member], *, talk: Talk) -> None:
    found: dict[str, str] = {}
    for _, client in connected(alive[:1], login=talk.login, budget=talk.budget):
        try:
            found = _sources(report, client)
        except PortalError as error:
            report.problems.append(f"Its names could not be read. {error.message}")
            return
        if isinstance(client, FrontEndClient) and report.dialect is Dialect.CATALOGS:
            _rights(report, client, sorted(found))
    for name, uris in sorted(found.items()):
        try:
            lake = lake_behind(uris)
        except RuleViolation as error:
            report.warnings.append(error.message)
            lake = ""
        report.stands_for.append(StandsFor(name, uris, lake))
        if not lake:
            report.warnings.append(
                f"{name} reads {uris}, the metastore of no lake here, so nothing in it is "
                "refreshed. If it is a lake of yours, write its address in lakes.json as it "
                "stands there."
            )
    if not found:
        report.warnings.append(
            "It has no Hive catalog or resource that this user sees: nothing will be refreshed."
        )


def _rights(report: TrialReport, client: FrontEndClient, catalogs: Sequence[str]) -> None:
    """Say on which tables we may do what: the grants tell, and asking for them changes nothing."""
    try:
        grants = client.grants()
        roles = roles_in(grants)
        for role in roles:
            grants += client.grants(role=role)
    except PortalError as error:
        report.warnings.append(
            f"Its grants could not be read, so rights are not known. {error.message}"
        )
        return
    if has_all_powerful(roles):
        report.rights |= dict.fromkeys(_NEEDED_FOR, "yes: by a role that may do everything")
        return
    held = extents(grants, rights=tuple(_NEEDED_FOR), catalogs=catalogs)
    for right, consequence in _NEEDED_FOR.items():
        lacking = [name for name in catalogs if held[right, name] is Extent.NONE]
        partly = [name for name in catalogs if held[right, name] is Extent.SOME]
        if lacking:
            report.rights[right] = f"no: not on the tables of {', '.join(lacking)}"
        elif partly:
            report.rights[right] = f"in part: on some tables of {', '.join(partly)}"
        elif catalogs:
            report.rights[right] = "yes: on all tables of its catalogs"
        if lacking or partly:
            report.warnings.append(
                f"The user lacks {right} on "
                + ("" if lacking else "some ")
                + f"tables of {', '.join(lacking or partly)}: {consequence}"
            )


def _sources(report: TrialReport, client: FrontEndClient | Answer) -> dict[str, str]:
    if isinstance(client, Answer):
        report.problems.append(f"Its names could not be read: {_words(client)}")
        return {}
    return client.resources() if report.dialect is Dialect.RESOURCES else client.catalogs()
