SELECT
  states."month" AS m,
  MAX(states."rev_max") AS r
FROM (
  SELECT
    stored."month" AS "month",
    stored."rev_max"
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    (
      stored."unit" BETWEEN 0 AND 4 OR stored."unit" = 6
    )
    AND BITWISE_AND(stored."has", 119) = stored."star"
    AND stored."star" IN (0, 1, 2, 3, 4, 5, 6, 7)
  UNION ALL
  SELECT
    DATE_TRUNC('MONTH', lineorder.lo_date) AS "month",
    MAX(lineorder.lo_revenue) AS "rev_max"
  FROM ssb.lineorder FOR VERSION AS OF 12 AS lineorder
  WHERE
    lineorder."$path" IN ('file:/lake/a.parquet', 'file:/lake/it''s.parquet')
  GROUP BY
    DATE_TRUNC('MONTH', lineorder.lo_date)
) AS states
GROUP BY
  states."month"
