package lakewarden.indexes.format;

/** What one index knows of one column of one data file. */
public interface Index {
  /** Say which rows may satisfy the leaf, which is of this index's column and class. */
  Answer ask(Leaf leaf);

  /** Bytes that it takes in memory, roughly. */
  long bytes();
}
