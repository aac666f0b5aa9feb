SELECT
  SUM(states."rev_sum") AS revenue,
  states."brand" AS p_brand1
FROM (
  SELECT
    stored."brand" AS "brand",
    stored."rev_sum"
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    BITWISE_AND(stored."has", 126) = stored."star"
    AND stored."star" IN (0, 2, 4, 6)
    AND (
      stored."brand" BETWEEN 'MFGR#2221' AND 'MFGR#2228'
    )
) AS states
GROUP BY
  states."brand"
ORDER BY
  p_brand1
LIMIT 10
