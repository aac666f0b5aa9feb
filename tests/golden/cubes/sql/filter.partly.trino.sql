SELECT
  COALESCE(SUM(states."rows") FILTER(WHERE
    states."discount" > 5), 0) AS high,
  SUM(states."rev_sum") FILTER(WHERE
    states."discount" > 5) AS r,
  COALESCE(SUM(states."rows") FILTER(WHERE
    NOT (
      states."discount"
    ) IS NULL), 0) AS d
FROM (
  SELECT
    stored."discount" AS "discount",
    stored."rows",
    stored."rev_sum"
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    (
      stored."unit" BETWEEN 0 AND 4 OR stored."unit" = 6
    )
    AND BITWISE_AND(stored."has", 95) = stored."star"
    AND stored."star" IN (0, 1, 2, 3, 4, 5, 6, 7)
  UNION ALL
  SELECT
    lineorder.lo_discount AS "discount",
    COUNT(*) AS "rows",
    SUM(lineorder.lo_revenue) AS "rev_sum"
  FROM ssb.lineorder FOR VERSION AS OF 12 AS lineorder
  WHERE
    lineorder."$path" IN ('file:/lake/a.parquet', 'file:/lake/it''s.parquet')
  GROUP BY
    lineorder.lo_discount
) AS states
