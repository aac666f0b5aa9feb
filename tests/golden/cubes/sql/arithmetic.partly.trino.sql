SELECT
  SUM(states."gain_sum") AS revenue
FROM (
  SELECT
    stored."gain_sum"
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    (
      stored."unit" BETWEEN 0 AND 4 OR stored."unit" = 6
    )
    AND BITWISE_AND(stored."has", 95) = stored."star"
    AND stored."star" IN (0, 1, 2, 3, 4, 5, 6, 7)
    AND (
      stored."discount" BETWEEN 1 AND 3
    )
  UNION ALL
  SELECT
    SUM(lineorder.lo_revenue * lineorder.lo_discount) AS "gain_sum"
  FROM ssb.lineorder FOR VERSION AS OF 12 AS lineorder
  WHERE
    lineorder.lo_discount BETWEEN 1 AND 3
    AND lineorder."$path" IN ('file:/lake/a.parquet', 'file:/lake/it''s.parquet')
) AS states
