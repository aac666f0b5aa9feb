SELECT
  states."brand" AS b,
  COUNT(DISTINCT states."nation") AS k,
  COALESCE(
    CARDINALITY(
      ARRAY_DISTINCT(
        FLATTEN(
          ARRAY_AGG(states."part_distinct") FILTER(WHERE
            NOT states."part_distinct" IS NULL)
        )
      )
    ),
    0
  ) AS parts
FROM (
  SELECT
    stored."brand" AS "brand",
    stored."nation" AS "nation",
    stored."part_distinct"
  FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77 AS stored
  WHERE
    BITWISE_AND(stored."has", 124) = stored."star" AND stored."star" IN (0, 4)
) AS states
GROUP BY
  states."brand"
