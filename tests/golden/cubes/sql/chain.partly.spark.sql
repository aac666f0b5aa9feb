SELECT
  states.`nation` AS n_name,
  states.`year` AS y,
  (
    CAST(SUM(states.`rev_sum`) AS DOUBLE) / NULLIF(CAST(SUM(states.`rev_count`) AS DOUBLE), 0)
  ) AS a,
  CAST(CAST(SUM(states.`price_sum`) AS DECIMAL(14, 2)) / NULLIF(CAST(SUM(states.`price_count`) AS DECIMAL(20, 0)), 0) AS DECIMAL(14, 6)) AS p,
  MIN(states.`rev_min`) AS lo
FROM (
  SELECT
    stored.`nation` AS `nation`,
    stored.`year` AS `year`,
    stored.`rev_sum`,
    stored.`rev_count`,
    stored.`price_sum`,
    stored.`price_count`,
    stored.`rev_min`,
    stored.`rows`
  FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`unit` BETWEEN 0 AND 4 OR stored.`unit` = 6
    )
    AND (
      stored.`has` & 121
    ) = stored.`star`
    AND stored.`star` IN (0, 1)
    AND (
      stored.`year` IN (1997, 1998)
    )
  UNION ALL
  SELECT
    n.n_name AS `nation`,
    YEAR(l.lo_date) AS `year`,
    SUM(l.lo_revenue) AS `rev_sum`,
    COUNT(l.lo_revenue) AS `rev_count`,
    SUM(l.lo_price) AS `price_sum`,
    COUNT(l.lo_price) AS `price_count`,
    MIN(l.lo_revenue) AS `rev_min`,
    COUNT(*) AS `rows`
  FROM ssb.lineorder VERSION AS OF 12 AS l
  JOIN ssb.part VERSION AS OF 21 AS p
    ON l.lo_partkey = p.p_partkey
  JOIN ssb.customer VERSION AS OF 23 AS c
    ON l.lo_custkey = c.c_custkey
  JOIN ssb.nation VERSION AS OF 24 AS n
    ON c.c_nationkey = n.n_nationkey
  WHERE
    YEAR(l.lo_date) IN (1997, 1998)
    AND l.`_file` IN ('file:/lake/a.parquet', 'file:/lake/it\'s.parquet')
  GROUP BY
    n.n_name,
    YEAR(l.lo_date)
) AS states
GROUP BY
  states.`nation`,
  states.`year`
HAVING
  COALESCE(SUM(states.`rows`), 0) > 3
ORDER BY
  SUM(states.`rev_sum`) DESC
