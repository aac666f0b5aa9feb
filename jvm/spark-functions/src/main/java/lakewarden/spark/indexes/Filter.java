package lakewarden.spark.indexes;

/** A filter that was just built. */
interface Filter {
  byte[] body();

  /** Whether a key may be there; false is certain. */
  boolean mightHold(long key);
}
