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
      stored.`has` & 121
    ) = stored.`star`
    AND stored.`star` IN (0, 1)
    AND (
      stored.`year` IN (1997, 1998)
    )
) AS states
GROUP BY
  states.`nation`,
  states.`year`
HAVING
  COALESCE(SUM(states.`rows`), 0) > 3
ORDER BY
  SUM(states.`rev_sum`) DESC
