SELECT
  states."month" AS m,
  MAX(states."rev_max") AS r
FROM (
  SELECT
    stored."month" AS "month",
    stored."rev_max"
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    BITWISE_AND(stored."has", 119) = stored."star"
    AND stored."star" IN (0, 1, 2, 3, 4, 5, 6, 7)
) AS states
GROUP BY
  states."month"
