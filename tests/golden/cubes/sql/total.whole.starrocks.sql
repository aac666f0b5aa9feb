SELECT
  COALESCE(SUM(states.`rows`), 0) AS n,
  SUM(states.`rev_sum`) AS r
FROM (
  SELECT
    stored.`rows`,
    stored.`rev_sum`
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`has` & 127
    ) = stored.`star`
    AND stored.`star` IN (0, 1, 2, 3, 4, 5, 6, 7)
) AS states
