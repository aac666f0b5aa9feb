SELECT DISTINCT
  states.`discount` AS lo_discount
FROM (
  SELECT
    stored.`discount` AS `discount`
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    (
      stored.`has` & 95
    ) = stored.`star`
    AND stored.`star` IN (0, 1, 2, 3, 4, 5, 6, 7)
    AND (
      stored.`discount` < 3
    )
) AS states
