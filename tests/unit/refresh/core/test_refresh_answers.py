"""Errors of a front end: which meaning, which remedy, and who of a fan-out failed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refresh.core.domain.answers import (
    Answer,
    ErrorKind,
    FaultSource,
    MetastoreCheck,
    NextStep,
    Outcome,
    RecoveryAction,
    outcomes,
    read_answer,
    read_failures,
    settle,
)
from refresh.core.domain.versions import Dialect
from refresh.verify.domain.probing import (
    Costs,
    Picture,
    can_be_probed,
    differences,
    picture_of,
    read_costs,
    read_ddl,
    selection,
)
from tests.unit.refresh.refresh_names import front_end

NEW, OLD = Dialect.CATALOGS, Dialect.RESOURCES
# The texts are those that a real cluster gave (facts/refresh, section 3).
TEXTS = [
    (
        NEW,
        5074,
        "refresh external table failed: refresh fe 10.77.0.3 failed: x;",
        ErrorKind.PARTIAL,
    ),
    (
        OLD,
        5074,
        "refresh external table failed: refresh fe 10.77.0.3 failed: x;",
        ErrorKind.PARTIAL,
    ),
    (
        NEW,
        5078,
        "Getting analyzing error. Detail message: Unknown catalog 'x'.",
        ErrorKind.CATALOG_UNKNOWN,
    ),
    (
        NEW,
        5502,
        "Getting analyzing error. Detail message: Unknown table 'nodb'.",
        ErrorKind.NAME_UNKNOWN,
    ),
    (
        NEW,
        5501,
        "Getting analyzing error. Detail message: Unknown database 'nodb'.",
        ErrorKind.NAME_UNKNOWN,
    ),
    (
        NEW,
        1064,
        "StarRocks planner use long time 3000 ms in memo phase, this probably because 1. FE Full "
        "GC, 2. Hive external table fetch metadata took a long time, 3. The SQL is very complex. "
        "You could 1. adjust FE JVM config, 2. try query again, 3. enlarge "
        "new_planner_optimize_timeout session variable",
        ErrorKind.PLANNER_SLOW,
    ),
    (
        NEW,
        1064,
        "Failed to get table [db1.nope], msg: NoSuchObjectException: db1.nope table not found",
        ErrorKind.NAME_UNKNOWN,
    ),
    (
        NEW,
        1064,
        "Failed to get table [db1.nope], msg: NoSuchObjectException: db1.nope table not found, "
        "invalidated cache.",
        ErrorKind.NAME_UNKNOWN,
    ),
    (NEW, 1064, "null value in entry: dt=2099-01-01=null", ErrorKind.PARTITION_UNKNOWN),
    (
        NEW,
        1064,
        "Failed to get table [db1.t], msg: SocketTimeoutException: Read timed out",
        ErrorKind.METASTORE_SLOW,
    ),
    (
        NEW,
        1064,
        "Failed to get partitionKeys on [db1.t], msg: SocketTimeoutException: Read timed out",
        ErrorKind.METASTORE_SLOW,
    ),
    (NEW, 1064, "Failed to get remote files, msg: denied", ErrorKind.LOAD_FAILED),
    (
        NEW,
        1064,
        "Failed to getAllDatabases, msg: MetaException: Could not connect to meta store using any "
        "of the URIs provided. Most recent failure: x\n\tat org.apache.thrift",
        ErrorKind.METASTORE_DOWN,
    ),
    (
        NEW,
        5203,
        "Access denied; you need (at least one of) the ALTER privilege(s) on TABLE t for this "
        "operation. Please ask the admin",
        ErrorKind.NO_RIGHT,
    ),
    (NEW, 1045, "Access denied for user 'svc' (using password: YES)", ErrorKind.BAD_LOGIN),
    (
        NEW,
        1046,
        "Getting analyzing error. Detail message: No database selected.",
        ErrorKind.BAD_STATEMENT,
    ),
    (
        NEW,
        1064,
        "Getting syntax error at line 1, column 8. Detail message: No viable statement for input "
        "'REFRESH TABLE'.",
        ErrorKind.BAD_STATEMENT,
    ),
    (
        NEW,
        1064,
        "can not refresh external table c.d.t, do not support refresh external table which type "
        "is MYSQL",
        ErrorKind.UNSUPPORTED,
    ),
    (OLD, 1049, "Unknown database 'ext'", ErrorKind.UNLINKED),
    (OLD, 1051, "Unknown table 'sales'", ErrorKind.UNLINKED),
    (
        OLD,
        1142,
        "REFRESH TABLE command denied to user 'svc'@'10.0.0.1' for table 't'",
        ErrorKind.NO_RIGHT,
    ),
    (
        OLD,
        1064,
        "table : X not exists, or is not hive/hudi external table",
        ErrorKind.UNLINKED,
    ),
    (OLD, 1064, "refresh table cache failed: Index: 0, Size: 0", ErrorKind.NAME_UNKNOWN),
    (OLD, 1064, "refresh table cache failed: Read timed out", ErrorKind.METASTORE_SLOW),
    (OLD, 1064, "refresh partition cached failed: boom", ErrorKind.LOAD_FAILED),
    (NEW, 2003, "Can't connect to MySQL server on 'fe1' (timed out)", ErrorKind.FE_SILENT),
    (
        NEW,
        2003,
        "Can't connect to MySQL server on 'fe1' ([Errno 111] Connection refused)",
        ErrorKind.FE_REFUSED,
    ),
    (
        NEW,
        2003,
        "Can't connect to MySQL server on 'fe1' ([Errno 113] No route to host)",
        ErrorKind.FE_SILENT,
    ),
    (NEW, 2013, "Lost connection to MySQL server during query (timed out)", ErrorKind.FE_SILENT),
    (NEW, 5999, "something nobody has seen", ErrorKind.UNKNOWN),
]


@pytest.mark.parametrize(("dialect", "code", "text", "meaning"), TEXTS)
def test_a_text_of_a_real_front_end_has_its_meaning(
    dialect: Dialect, code: int, text: str, meaning: ErrorKind
) -> None:
    answer = read_answer(code, text, dialect=dialect)
    assert answer == Answer(code, text, meaning)


def test_what_may_be_a_metastore_that_is_down_is_never_permanent() -> None:
    doubtful = {ErrorKind.NAME_UNKNOWN, ErrorKind.PARTITION_UNKNOWN, ErrorKind.LOAD_FAILED}
    for meaning in doubtful:
        assert Answer(1064, "", meaning).remedy is RecoveryAction.ASK_METASTORE
    assert {Answer(0, "", meaning).remedy for meaning in ErrorKind} == set(RecoveryAction)
    assert [asked for asked in MetastoreCheck if settle(asked) is NextStep.DROP_TABLE] == [
        MetastoreCheck.TABLE_GONE
    ]


def test_breakers_count_only_whom_an_answer_accuses() -> None:
    accused = {meaning: Answer(0, "", meaning).suspect for meaning in ErrorKind}
    assert {m for m, who in accused.items() if who is FaultSource.METASTORE} == {
        ErrorKind.METASTORE_SLOW,
        ErrorKind.METASTORE_DOWN,
    }
    assert {m for m, who in accused.items() if who is FaultSource.FRONT_END} == {
        ErrorKind.FE_REFUSED,
        ErrorKind.FE_SILENT,
    }


@given(code=st.integers(), text=st.text(), dialect=st.sampled_from(Dialect))
def test_any_text_is_kept_whole_and_shown_short(code: int, text: str, dialect: Dialect) -> None:
    answer = read_answer(code, text, dialect=dialect)
    assert answer.text == text
    assert len(answer.short) <= 200
    assert len(answer.short.splitlines()) <= 1


WORDS = ["java.net.SocketTimeoutException: Read timed out", "Socket is closed by peer.", "null", ""]


@given(
    failed=st.dictionaries(
        st.sampled_from(["fe1", "10.77.0.3", "[::1]"]),
        st.tuples(st.sampled_from(WORDS), st.booleans()),
        min_size=1,
    )
)
def test_a_fan_out_names_everybody_who_failed(failed: dict[str, tuple[str, bool]]) -> None:
    """Each piece ends with a semicolon, but for those whose call threw."""
    text = "refresh external table failed: " + "".join(
        f"refresh fe {host} failed: {reason}{';' * closed}"
        for host, (reason, closed) in failed.items()
    )
    assert read_failures(text) == {host: reason for host, (reason, _) in failed.items()}


def test_each_front_end_has_its_own_outcome() -> None:
    every = [front_end(name) for name in ("a", "b", "c")]
    text = "refresh external table failed: refresh fe c failed: Socket is closed by peer.;"
    found = outcomes(text, coordinator=every[0], every=every)
    assert {name: one.outcome for name, one in found.items()} == {
        "a": Outcome.DONE,
        "b": Outcome.DONE,
        "c": Outcome.FAILED,
    }
    assert found["c"].reason == "Socket is closed by peer."
    fine = outcomes(None, coordinator=every[1], every=every)
    assert {one.outcome for one in fine.values()} == {Outcome.DONE}


@given(
    hosts=st.lists(st.sampled_from("xyz"), min_size=1, max_size=6),
    failed=st.sets(st.sampled_from("xyz")),
    coordinator=st.integers(0, 5),
)
def test_nobody_counts_as_done_of_whom_it_is_not_known(
    hosts: list[str], failed: set[str], coordinator: int
) -> None:
    """Model the fan-out: skip the own host, call each other one, keep one answer per host."""
    every = [front_end(f"fe{n}", host=host) for n, host in enumerate(hosts)]
    took = every[coordinator % len(every)]
    said = sorted({fe.host for fe in every if fe.host != took.host} & failed)
    text = "".join(f"refresh fe {host} failed: no;" for host in said)
    found = outcomes(
        f"refresh external table failed: {text}" if said else None, coordinator=took, every=every
    )
    for fe in every:
        alone = sum(other.host == fe.host for other in every) == 1
        is_done = fe is took or (fe.host not in failed and fe.host != took.host and alone)
        assert (found[fe.name].outcome is Outcome.DONE) == is_done


@pytest.mark.parametrize("text", ["", "garbage", "refresh external table failed: "])
def test_a_partial_answer_that_names_nobody_proves_nothing(text: str) -> None:
    every = [front_end("a"), front_end("b")]
    found = outcomes(text, coordinator=every[0], every=every)
    assert {one.outcome for one in found.values()} == {Outcome.UNKNOWN}


def test_a_probe_contradicts_only_where_both_sides_speak() -> None:
    plan = "  0:HdfsScanNode\n     TABLE: t\n     partitions=2/7\n     cardinality: 100388\n"
    assert read_costs(plan) == Costs(n_selected=2, n_partitions=7, cardinality=100_388)
    assert read_costs(plan).cached_rows is None, "a mean of what is cached"
    assert Costs(1, 7, 100).cached_rows == 100
    assert Costs(1, 7, 1).cached_rows is None, "not cached"
    assert Costs(0, 7, 100).cached_rows is None, "nothing was selected"
    ddl = 'PROPERTIES ("transient_lastDdlTime" = "1700000000", "location" = "hdfs://nn/t")'
    assert read_ddl(ddl) == Picture(ddl_time=1_700_000_000, location="hdfs://nn/t")
    assert read_costs("garbage") == Costs()
    assert read_ddl("") == picture_of({}) == Picture()
    assert picture_of({"a": Costs(1, 3, 9), "b": Costs(1, 2, 1)}) == Picture(2, rows={"a": 9})
    assert differences(Picture(n_partitions=7), Picture(ddl_time=3)) == ()
    assert differences(Picture(n_partitions=7), Picture(n_partitions=7, ddl_time=3)) == ()
    assert differences(Picture(n_partitions=7), Picture(n_partitions=8)) == (
        "partitions: it has 7, should be 8",
    )


def test_one_partition_is_selected_by_equalities_unless_they_cannot_say_it() -> None:
    assert selection("dt=a%2Fb/hr=3") == (("dt", "a/b"), ("hr", "3"))
    assert can_be_probed("dt=a%2Fb/hr=3")
    for name in ("dt=__HIVE_DEFAULT_PARTITION__", "dt=1/hr=", "dt=%0A", "none"):
        assert not can_be_probed(name), name
