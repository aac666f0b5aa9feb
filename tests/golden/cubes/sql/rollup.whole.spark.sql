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
      stored.`has` & 94
    ) = stored.`star` AND stored.`star` IN (0, 2, 4, 6)
) AS states
GROUP BY
  ROLLUP (
    states.`brand`,
    states.`discount`
  )
