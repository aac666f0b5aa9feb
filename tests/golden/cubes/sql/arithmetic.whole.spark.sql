SELECT
  SUM(states.`gain_sum`) AS revenue
FROM (
  SELECT
    stored.`gain_sum`
  FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`has` & 95
    ) = stored.`star`
    AND stored.`star` IN (0, 1, 2, 3, 4, 5, 6, 7)
    AND (
      stored.`discount` BETWEEN 1 AND 3
    )
) AS states
