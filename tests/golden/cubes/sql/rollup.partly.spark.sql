SELECT
  states.`brand` AS b,
  states.`discount` AS d,
  COALESCE(SUM(states.`rows`), 0) AS n
FROM (
  SELECT
    stored.`brand` AS `brand`,
    stored.`discount` AS `discount`,
    stored.`rows`
  FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`unit` BETWEEN 0 AND 4 OR stored.`unit` = 6
    )
    AND (
      stored.`has` & 94
    ) = stored.`star`
    AND stored.`star` IN (0, 2, 4, 6)
  UNION ALL
  SELECT
    part.p_brand1 AS `brand`,
    lineorder.lo_discount AS `discount`,
    COUNT(*) AS `rows`
  FROM ssb.lineorder VERSION AS OF 12 AS lineorder
  JOIN ssb.part VERSION AS OF 21 AS part
    ON lineorder.lo_partkey = part.p_partkey
  WHERE
    lineorder.`_file` IN ('file:/lake/a.parquet', 'file:/lake/it\'s.parquet')
  GROUP BY
    part.p_brand1,
    lineorder.lo_discount
) AS states
GROUP BY
  ROLLUP (
    states.`brand`,
    states.`discount`
  )
