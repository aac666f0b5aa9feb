package lakewarden.indexes.format;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** One value as filters hash it, as ranges order it and as dictionaries spell it. */
public final class Value {
  private static final long HIGHEST = Long.MIN_VALUE;
  private static final long NAN = 0x7ff8000000000000L;
  private static final int DECIMAL_BYTES = 16;
  private static final int SHORT_DECIMAL_DIGITS = 18;

  /** What is hashed. */
  public final byte[] bytes;

  /** Where it stands, as an unsigned number; strings, binary and UUID by their first 8 bytes. */
  public final long order;

  /** How a dictionary of byte strings or decimals spells it; null where it holds order numbers. */
  final byte[] spelling;

  /** False for a decimal that is too long to have an order number. */
  public final boolean ordered;

  /** The scale of a decimal, else 0. */
  public final int scale;

  private Value(byte[] bytes, long order, byte[] spelling, boolean ordered, int scale) {
    this.bytes = bytes;
    this.order = order;
    this.spelling = spelling;
    this.ordered = ordered;
    this.scale = scale;
  }

  public static Value ofBoolean(boolean value) {
    int bit = value ? 1 : 0;
    return new Value(new byte[] {(byte) bit}, bit, null, true, 0);
  }

  /** An integer, or the number of a date, time or timestamp. */
  public static Value ofLong(long value) {
    return new Value(littleEndian(value), value ^ HIGHEST, null, true, 0);
  }

  public static Value ofDouble(double value) {
    long bits = Double.isNaN(value) ? NAN : Double.doubleToRawLongBits(value == 0 ? 0.0 : value);
    return new Value(littleEndian(bits), bits < 0 ? ~bits : bits ^ HIGHEST, null, true, 0);
  }

  public static Value ofDecimal(BigDecimal value) {
    BigInteger unscaled = value.unscaledValue();
    byte[] shortest = unscaled.toByteArray();
    byte[] wide = new byte[DECIMAL_BYTES];
    if (shortest.length > DECIMAL_BYTES) {
      throw new ArithmeticException("a decimal of more than 16 bytes");
    }
    Arrays.fill(wide, (byte) (unscaled.signum() < 0 ? 0xff : 0));
    System.arraycopy(shortest, 0, wide, DECIMAL_BYTES - shortest.length, shortest.length);
    wide[0] ^= (byte) 0x80;
    boolean ordered = unscaled.abs().toString().length() <= SHORT_DECIMAL_DIGITS;
    long order = ordered ? unscaled.longValue() ^ HIGHEST : 0;
    return new Value(shortest, order, wide, ordered, value.scale());
  }

  public static Value ofString(String value) {
    return ofBytes(value.getBytes(StandardCharsets.UTF_8));
  }

  /** A string by its UTF-8 bytes, or binary. */
  public static Value ofBytes(byte[] value) {
    return new Value(value, prefixOrder(value, 0), value, true, 0);
  }

  public static Value ofUuid(java.util.UUID value) {
    ByteBuffer bytes = ByteBuffer.allocate(16);
    bytes.putLong(value.getMostSignificantBits()).putLong(value.getLeastSignificantBits());
    return ofBytes(bytes.array());
  }

  /** The piece of an n-gram. */
  static Value ofPiece(long number) {
    return new Value(littleEndian(number), number, null, true, 0);
  }

  /** The first eight bytes as a number, the missing ones being `filler`. */
  static long prefixOrder(byte[] value, int filler) {
    long order = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      order = order << 8 | (i < value.length ? value[i] & 0xff : filler);
    }
    return order;
  }

  private static byte[] littleEndian(long value) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }
}
