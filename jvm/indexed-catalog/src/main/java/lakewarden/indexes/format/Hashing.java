package lakewarden.indexes.format;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;

/** The two functions that spread keys over bits. */
final class Hashing {
  private static final long SEED = 42;

  private Hashing() {}

  static long hash(byte[] bytes) {
    return XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, SEED);
  }

  static long hash(String text) {
    return hash(text.getBytes(StandardCharsets.UTF_8));
  }

  static long mix(long given) {
    long x = given;
    x ^= x >>> 30;
    x *= 0xBF58476D1CE4E5B9L;
    x ^= x >>> 27;
    x *= 0x94D049BB133111EBL;
    return x ^ (x >>> 31);
  }
}
