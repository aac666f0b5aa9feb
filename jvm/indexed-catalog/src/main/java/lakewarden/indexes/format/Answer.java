package lakewarden.indexes.format;

import org.roaringbitmap.RoaringBitmap;

/**
 * Which rows of one file may satisfy a condition, and which may contradict it.
 *
 * <p>Both are supersets, null standing for all rows. A row in neither makes the condition null, so
 * AND, OR and NOT stay supersets with SQL's three values: NOT only changes the two sides.
 */
public final class Answer {
  /** Nothing is known. */
  public static final Answer UNKNOWN = new Answer(null, null);

  /** No row satisfies it; nothing is known of where it is false. */
  public static final Answer NEVER = new Answer(new RoaringBitmap(), null);

  private final RoaringBitmap mayHold;
  private final RoaringBitmap mayFail;

  Answer(RoaringBitmap mayHold, RoaringBitmap mayFail) {
    this.mayHold = mayHold;
    this.mayFail = mayFail;
  }

  /** The rows that may satisfy the condition; null: any. */
  public RoaringBitmap rows() {
    return mayHold;
  }

  /** Whether no row of the file can satisfy the condition. */
  public boolean excludesFile() {
    return mayHold != null && mayHold.isEmpty();
  }

  public boolean knowsNothing() {
    return mayHold == null && mayFail == null;
  }

  public Answer and(Answer other) {
    return new Answer(both(mayHold, other.mayHold), either(mayFail, other.mayFail));
  }

  public Answer or(Answer other) {
    return new Answer(either(mayHold, other.mayHold), both(mayFail, other.mayFail));
  }

  public Answer not() {
    return new Answer(mayFail, mayHold);
  }

  /** What two indexes say of the same condition. */
  public Answer narrowedBy(Answer other) {
    return new Answer(both(mayHold, other.mayHold), both(mayFail, other.mayFail));
  }

  private static RoaringBitmap both(RoaringBitmap a, RoaringBitmap b) {
    return a == null ? b : b == null ? a : RoaringBitmap.and(a, b);
  }

  private static RoaringBitmap either(RoaringBitmap a, RoaringBitmap b) {
    return a == null || b == null ? null : RoaringBitmap.or(a, b);
  }
}
