package lakewarden.indexes.format;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** A condition on one column. */
public final class Leaf extends Condition {
  /** What is asked of the column. `EQUALS` takes any number of values, `BETWEEN` both bounds. */
  public enum Kind {
    EQUALS,
    BETWEEN,
    LESS,
    LESS_OR_EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    IS_NULL,
    LIKE
  }

  public final Kind kind;
  public final int field;
  public final ValueClass of;
  public final List<Value> values;
  public final LikePattern pattern;

  /** Whether the text is asked after `lower(column)`. */
  public final boolean lowered;

  private final boolean nullSafe;
  private boolean aside;

  private Leaf(
      Kind kind, int field, ValueClass of, List<Value> values, LikePattern pattern, boolean lowered,
      boolean nullSafe) {
    this.kind = kind;
    this.field = field;
    this.of = of;
    this.values = values;
    this.pattern = pattern;
    this.lowered = lowered;
    this.nullSafe = nullSafe;
  }

  /** The column is one of the values. */
  public static Leaf in(int field, ValueClass of, List<Value> values) {
    return new Leaf(Kind.EQUALS, field, of, List.copyOf(values), null, false, false);
  }

  /** The column is the string; a filter over words or character sequences can judge it too. */
  public static Leaf equalTo(int field, String text) {
    return new Leaf(
        Kind.EQUALS, field, ValueClass.STRING, List.of(Value.ofString(text)),
        LikePattern.equalTo(text), false, false);
  }

  public static Leaf compared(Kind kind, int field, ValueClass of, Value value) {
    return new Leaf(kind, field, of, List.of(value), null, false, false);
  }

  /**
   * Both bounds of one column under an AND, for filters that can say of a range what they cannot
   * say of its two halves.
   */
  static Leaf between(Leaf from, Leaf to) {
    return new Leaf(
        Kind.BETWEEN, from.field, from.of, List.of(from.values.get(0), to.values.get(0)), null,
        false, false);
  }

  public static Leaf isNull(int field, ValueClass of) {
    return new Leaf(Kind.IS_NULL, field, of, List.of(), null, false, false);
  }

  public static Leaf like(int field, LikePattern pattern, boolean lowered) {
    return new Leaf(Kind.LIKE, field, ValueClass.STRING, List.of(), pattern, lowered, false);
  }

  /** Whether an index is worth reading for it: Spark adds IS NOT NULL to most of what it asks. */
  public boolean isWorthReading() {
    return kind != Kind.IS_NULL || !aside;
  }

  /** The same, answered only by what is read for others. */
  public Leaf aside() {
    Leaf same = new Leaf(kind, field, of, values, pattern, lowered, nullSafe);
    same.aside = true;
    return same;
  }

  /** The same with `<=>`: a null column makes it false, not null. */
  public Leaf nullSafe() {
    return new Leaf(kind, field, of, values, pattern, lowered, true);
  }

  @Override
  public Answer answer(Function<Leaf, Answer> ask) {
    Answer said = ask.apply(this);
    // A null row fails a null-safe comparison, but indexes count it to neither side.
    return nullSafe ? new Answer(said.rows(), null) : said;
  }

  @Override
  public void leaves(Consumer<Leaf> take) {
    take.accept(this);
  }

  @Override
  public String toString() {
    return "field " + field + " " + kind + (values.size() > 1 ? " of " + values.size() : "");
  }
}
