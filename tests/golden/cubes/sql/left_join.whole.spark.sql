SELECT
  states.`brand` AS b,
  COUNT(DISTINCT states.`nation`) AS k,
  CAST(SIZE(ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(states.`part_distinct`)))) AS BIGINT) AS parts
FROM (
  SELECT
    stored.`brand` AS `brand`,
    stored.`nation` AS `nation`,
    stored.`part_distinct`
  FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`has` & 124
    ) = stored.`star` AND stored.`star` IN (0, 4)
) AS states
GROUP BY
  states.`brand`
