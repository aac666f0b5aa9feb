SELECT
  states.`brand` AS b,
  COUNT(DISTINCT states.`nation`) AS k,
  CAST(SIZE(ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(states.`part_distinct`)))) AS BIGINT) AS parts
FROM (
  SELECT
    stored.`brand` AS `brand`,
    stored.`nation` AS `nation`,
    stored.`part_distinct`
  FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`unit` BETWEEN 0 AND 4 OR stored.`unit` = 6
    )
    AND (
      stored.`has` & 124
    ) = stored.`star`
    AND stored.`star` IN (0, 4)
  UNION ALL
  SELECT
    part.p_brand1 AS `brand`,
    nation.n_name AS `nation`,
    COLLECT_SET(lineorder.lo_partkey) AS `part_distinct`
  FROM ssb.lineorder VERSION AS OF 12 AS lineorder
  LEFT JOIN ssb.part VERSION AS OF 21 AS part
    ON part.p_partkey = lineorder.lo_partkey
  LEFT JOIN ssb.customer VERSION AS OF 23 AS customer
    ON lineorder.lo_custkey = customer.c_custkey
  LEFT JOIN ssb.nation VERSION AS OF 24 AS nation
    ON nation.n_nationkey = customer.c_nationkey
  WHERE
    lineorder.`_file` IN ('file:/lake/a.parquet', 'file:/lake/it\'s.parquet')
  GROUP BY
    part.p_brand1,
    nation.n_name
) AS states
GROUP BY
  states.`brand`
