SELECT DISTINCT
  states.`discount` AS lo_discount
FROM (
  SELECT
    stored.`discount` AS `discount`
  FROM ssb.lineorder__cube_sales VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`unit` BETWEEN 0 AND 4 OR stored.`unit` = 6
    )
    AND (
      stored.`has` & 95
    ) = stored.`star`
    AND stored.`star` IN (0, 1, 2, 3, 4, 5, 6, 7)
    AND (
      stored.`discount` < 3
    )
  UNION ALL
  SELECT
    lineorder.lo_discount AS `discount`
  FROM ssb.lineorder VERSION AS OF 12 AS lineorder
  WHERE
    lineorder.lo_discount < 3
    AND lineorder.`_file` IN ('file:/lake/a.parquet', 'file:/lake/it\'s.parquet')
  GROUP BY
    lineorder.lo_discount
) AS states
