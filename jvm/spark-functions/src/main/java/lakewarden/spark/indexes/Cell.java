package lakewarden.spark.indexes;

import java.math.BigInteger;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The value of one column in the row at hand: a number of 64 bits, or bytes; a decimal of at most 18
 * digits is both. What docs/indexes.md calls the bytes of a value, and its order number.
 */
final class Cell {
  private static final long TOP = Long.MIN_VALUE;
  private static final long NAN = 0x7FF8000000000000L;
  private static final int LONG_DIGITS = 18;

  private enum Read {
    BOOLEAN,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    SHORT_DECIMAL,
    DECIMAL,
    TEXT,
    BYTES
  }

  private final int column;
  private final Read read;
  private final int digits;
  private final int scale;
  boolean isNull;
  boolean isNan;

  /** The value's bytes; null where it is a number alone. */
  UTF8String bytes;

  private long bits;

  Cell(int column, DataType type) {
    this.column = column;
    this.digits = type instanceof DecimalType ? ((DecimalType) type).precision() : 0;
    this.scale = type instanceof DecimalType ? ((DecimalType) type).scale() : 0;
    this.read = read(type, digits);
  }

  /** How a column of this type is read. */
  private static Read read(DataType type, int digits) {
    if (type instanceof BooleanType) {
      return Read.BOOLEAN;
    }
    if (type instanceof IntegerType || type instanceof DateType) {
      return Read.INT;
    }
    if (type instanceof LongType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType) {
      return Read.LONG;
    }
    if (type instanceof FloatType) {
      return Read.FLOAT;
    }
    if (type instanceof DoubleType) {
      return Read.DOUBLE;
    }
    if (type instanceof DecimalType) {
      return digits <= LONG_DIGITS ? Read.SHORT_DECIMAL : Read.DECIMAL;
    }
    if (type instanceof StringType) {
      return Read.TEXT;
    }
    if (type instanceof BinaryType) {
      return Read.BYTES;
    }
    throw new IllegalArgumentException("no index is built of " + type.sql());
  }

  /** Take in the value of the next row. */
  void read(InternalRow row) {
    isNull = row.isNullAt(column);
    isNan = false;
    if (isNull) {
      return;
    }
    switch (read) {
      case BOOLEAN:
        bits = row.getBoolean(column) ? 1 : 0;
        break;
      case INT:
        bits = row.getInt(column);
        break;
      case LONG:
        bits = row.getLong(column);
        break;
      case FLOAT:
        real(row.getFloat(column));
        break;
      case DOUBLE:
        real(row.getDouble(column));
        break;
      case TEXT:
        bytes = row.getUTF8String(column);
        break;
      case BYTES:
        bytes = UTF8String.fromBytes(row.getBinary(column));
        break;
      default:
        Decimal number = row.getDecimal(column, digits, scale);
        BigInteger unscaled =
            read == Read.SHORT_DECIMAL
                ? BigInteger.valueOf(bits = number.toUnscaledLong())
                : number.toJavaBigDecimal().unscaledValue();
        bytes = UTF8String.fromBytes(unscaled.toByteArray());
    }
  }

  private void real(double number) {
    isNan = Double.isNaN(number);
    // One zero and one NaN.
    bits = isNan ? NAN : Double.doubleToRawLongBits(number == 0 ? 0.0 : number);
  }

  long hash() {
    return bytes == null ? Hashing.of(bits) : Hashing.of(bytes);
  }

  /** Whether the dictionary of a bitmap holds order numbers, and not bytes. */
  boolean isNumber() {
    return read.compareTo(Read.SHORT_DECIMAL) < 0;
  }

  boolean isDecimal() {
    return read == Read.SHORT_DECIMAL || read == Read.DECIMAL;
  }

  /** A number, unsigned, that keeps the order of the values: not strictly where they are bytes. */
  long order() {
    switch (read) {
      case BOOLEAN:
        return bits;
      case FLOAT:
      case DOUBLE:
        return bits < 0 ? ~bits : bits ^ TOP;
      case TEXT:
      case BYTES:
        return firstWord();
      default:
        return bits ^ TOP;
    }
  }

  private long firstWord() {
    long word = 0;
    int count = Math.min(bytes.numBytes(), Long.BYTES);
    for (int at = 0; at < count; at++) {
      long one = Platform.getByte(bytes.getBaseObject(), bytes.getBaseOffset() + at) & 0xFF;
      word |= one << (56 - 8 * at);
    }
    return word;
  }
}
