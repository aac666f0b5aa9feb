package lakewarden.spark.indexes;

import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** The hash of values and the mixer of filters, as docs/indexes.md has them. */
final class Hashing {
  static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final long SEED = 42;

  private Hashing() {}

  static long of(long number) {
    return XXH64.hashLong(number, SEED);
  }

  static long of(UTF8String bytes) {
    return XXH64.hashUnsafeBytes(
        bytes.getBaseObject(), bytes.getBaseOffset(), bytes.numBytes(), SEED);
  }

  static long of(byte[] bytes, int start, int length) {
    return XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET + start, length, SEED);
  }

  static long mix(long number) {
    long x = number;
    x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L;
    x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
    return x ^ (x >>> 31);
  }
}
