package lakewarden.spark.indexes;

/** Builds one index of one data file while its rows pass by. */
interface Builder {
  /** Take in the value of a row; a null too. */
  void add(Cell cell, int row);

  /** Return the body, or why there is no index. */
  Body finish();
}
