package lakewarden.indexes.format;

/** Classes of values: what may be compared with what, and how a dictionary spells it. */
public enum ValueClass {
  BOOLEAN(1),
  INTEGER(2),
  DATE(3),
  TIME(4),
  TIMESTAMP(5),
  TIMESTAMPTZ(6),
  TIMESTAMP_NS(7),
  TIMESTAMPTZ_NS(8),
  FLOAT(9),
  DECIMAL(10),
  STRING(11),
  UUID(12),
  BINARY(13);

  private static final ValueClass[] ALL = values();

  private final int code;

  ValueClass(int code) {
    this.code = code;
  }

  static ValueClass of(int code) throws Unusable {
    if (code < 1 || code > ALL.length) {
      throw new Unusable("unknown class of values " + code);
    }
    return ALL[code - 1];
  }

  public int code() {
    return code;
  }

  /** Whether order numbers stand for values in full, and dictionaries hold them. */
  boolean hasOrderNumbers() {
    return code <= FLOAT.code;
  }
}
