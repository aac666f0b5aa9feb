SELECT
  COALESCE(SUM(states.`rows`) FILTER(WHERE
    states.`discount` > 5), 0) AS high,
  SUM(states.`rev_sum`) FILTER(WHERE
    states.`discount` > 5) AS r,
  COALESCE(SUM(states.`rows`) FILTER(WHERE
    NOT (
      states.`discount`
    ) IS NULL), 0) AS d
FROM (
  SELECT
    stored.`discount` AS `discount`,
    stored.`rows`,
    stored.`rev_sum`
  FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`has` & 95
    ) = stored.`star`
    AND stored.`star` IN (0, 1, 2, 3, 4, 5, 6, 7)
) AS states
