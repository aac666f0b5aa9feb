SELECT
  SUM(states."rev_sum") AS revenue,
  states."brand" AS p_brand1
FROM (
  SELECT
    stored."brand" AS "brand",
    stored."rev_sum"
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    (
      stored."unit" BETWEEN 0 AND 4 OR stored."unit" = 6
    )
    AND BITWISE_AND(stored."has", 126) = stored."star"
    AND stored."star" IN (0, 2, 4, 6)
    AND (
      stored."brand" BETWEEN 'MFGR#2221' AND 'MFGR#2228'
    )
  UNION ALL
  SELECT
    part.p_brand1 AS "brand",
    SUM(lineorder.lo_revenue) AS "rev_sum"
  FROM ssb.lineorder FOR VERSION AS OF 12 AS lineorder, ssb.part FOR VERSION AS OF 21 AS part
  WHERE
    (
      lineorder.lo_partkey = part.p_partkey
      AND part.p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228'
    )
    AND lineorder."$path" IN ('file:/lake/a.parquet', 'file:/lake/it''s.parquet')
  GROUP BY
    part.p_brand1
) AS states
GROUP BY
  states."brand"
ORDER BY
  p_brand1
LIMIT 10
