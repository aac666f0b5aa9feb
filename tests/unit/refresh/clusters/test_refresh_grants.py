"""What SHOW GRANTS tells of the portal's own user."""

from refresh.clusters.domain.grants import Extent, Grant, extents, has_all_powerful, roles_in

GRANTS = (
    Grant("", "GRANT 'public', 'lake_reader' TO 'svc'@'%'"),
    Grant("default", "GRANT OPERATE ON SYSTEM TO USER 'svc'@'%'"),
    Grant("hive", "GRANT USAGE ON CATALOG hive TO USER 'svc'@'%'"),
    Grant("hive", "GRANT SELECT, ALTER ON ALL TABLES IN ALL DATABASES TO USER 'svc'@'%'"),
    Grant("other", "GRANT SELECT ON ALL TABLES IN DATABASE shop TO USER 'svc'@'%'"),
    Grant("other", "GRANT ALTER ON TABLE shop.sales, shop.orders TO USER 'svc'@'%'"),
)


def test_s12_a_right_is_held_on_all_on_some_or_on_no_tables_of_a_catalog() -> None:
    found = extents(GRANTS, rights=("SELECT", "ALTER"), catalogs=("hive", "other", "third"))
    assert found == {
        ("SELECT", "hive"): Extent.ALL,
        ("ALTER", "hive"): Extent.ALL,
        ("SELECT", "other"): Extent.SOME,
        ("ALTER", "other"): Extent.SOME,
        ("SELECT", "third"): Extent.NONE,
        ("ALTER", "third"): Extent.NONE,
    }
    every = (Grant("hive", "GRANT ALL ON ALL TABLES IN ALL DATABASES TO ROLE 'x'"),)
    assert extents(every, rights=("ALTER",), catalogs=("hive",)) == {("ALTER", "hive"): Extent.ALL}


def test_s12_roles_are_read_apart() -> None:
    assert roles_in(GRANTS) == ["public", "lake_reader"]
    assert not has_all_powerful(roles_in(GRANTS))
    assert has_all_powerful(["public", "db_admin"])
