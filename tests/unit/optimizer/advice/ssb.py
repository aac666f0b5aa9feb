"""Columns and sizes of the tables of the Star Schema Benchmark."""

_COLUMNS = {
    "lineorder": "lo_orderkey lo_linenumber lo_custkey lo_partkey lo_suppkey lo_orderdate "
    "lo_orderpriority lo_quantity lo_extendedprice lo_discount lo_revenue lo_supplycost lo_tax "
    "lo_shipmode",
    "date": "d_key d_year d_yearmonthnum d_yearmonth d_weeknuminyear",
    "customer": "c_key c_city c_nation c_region",
    "supplier": "s_key s_city s_nation s_region",
    "part": "p_key p_mfgr p_category p_brand1",
}
SIZES = {
    "ssb.lineorder": 1_000_000,
    "ssb.customer": 9_000,
    "ssb.part": 20_000,
    "ssb.supplier": 900,
    "ssb.date": 300,
}


def ssb_columns() -> dict[str, frozenset[str]]:
    """Return the columns of each table."""
    return {f"ssb.{table}": frozenset(names.split()) for table, names in _COLUMNS.items()}
