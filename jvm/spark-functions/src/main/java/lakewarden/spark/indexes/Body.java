package lakewarden.spark.indexes;

/** The body of an index with its form, or why there is none. */
final class Body {
  static final int BLOOM = 1;
  static final int BITMAP_EQUALITY = 2;
  static final int BITMAP_SLICED = 3;
  static final int BLOOMRF = 4;
  static final int WORD_BLOOM = 5;
  static final int NGRAM_BLOOM = 6;
  static final int WORD_BITMAP = 7;
  static final int NGRAM_BITMAP = 8;

  /** Of a million absent keys so many pass; not known. */
  static final int UNKNOWN = -1;

  private static final int FOLDED = 4;
  private static final int ODD_LOWER = 8;

  final int form;
  final byte[] bytes;
  final int passed;

  /** How many distinct keys it holds. */
  final int keys;

  /** What the header says beside nulls and NaN. */
  final int flags;

  /** Why there is no index, as the driver's side of a build names it; else empty. */
  final String refused;

  private Body(int form, byte[] bytes, int passed, int keys, int flags, String refused) {
    this.form = form;
    this.bytes = bytes;
    this.passed = passed;
    this.keys = keys;
    this.flags = flags;
    this.refused = refused;
  }

  static Body of(int form, byte[] bytes, int passed, int keys) {
    return new Body(form, bytes, passed, keys, 0, "");
  }

  static Body refused(String why) {
    return new Body(0, new byte[0], UNKNOWN, 0, 0, why);
  }

  /** The same of pieces of text. */
  Body ofPieces(int pieces, boolean isOdd) {
    return new Body(pieces, bytes, passed, keys, FOLDED | (isOdd ? ODD_LOWER : 0), refused);
  }
}
