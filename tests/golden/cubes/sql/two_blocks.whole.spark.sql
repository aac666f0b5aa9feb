WITH b AS (
  SELECT
    states.`discount` AS d,
    SUM(states.`rev_sum`) AS r
  FROM (
    SELECT
      stored.`discount` AS `discount`,
      stored.`rev_sum`
    FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
    WHERE
      (
        stored.`has` & 95
      ) = stored.`star`
      AND stored.`star` IN (0, 1, 2, 3, 4, 5, 6, 7)
  ) AS states
  GROUP BY
    states.`discount`
)
SELECT
  b.d,
  b.r,
  t.n
FROM b
CROSS JOIN (
  SELECT
    COALESCE(SUM(states.`rows`), 0) AS n
  FROM (
    SELECT
      stored.`rows`
    FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
    WHERE
      (
        stored.`has` & 127
      ) = stored.`star`
      AND stored.`star` IN (0, 1, 2, 3, 4, 5, 6, 7)
  ) AS states
) AS t
UNION ALL
SELECT
  lo_discount,
  0,
  0
FROM ssb.lineorder VERSION AS OF 12
WHERE
  note = 'x'
