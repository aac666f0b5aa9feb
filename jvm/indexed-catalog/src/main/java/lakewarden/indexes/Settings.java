package lakewarden.indexes;

import java.util.Locale;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** What a catalog's settings say of indexes: `spark.sql.catalog.<name>.lakewarden.indexes.<key>`. */
final class Settings {
  private static final String PREFIX = "lakewarden.indexes.";
  private static final long MEBIBYTE = 1L << 20;

  final boolean enabled;
  final long cacheBytes;
  final long planMillis;
  final long mostBlobBytes;
  final long mostJoinValues;

  Settings(CaseInsensitiveStringMap options) {
    enabled = options.getBoolean(PREFIX + "enabled", true);
    cacheBytes = number(options, PREFIX, "cache-bytes", 256 * MEBIBYTE);
    planMillis = number(options, PREFIX, "plan-ms", 5_000);
    mostBlobBytes = number(options, PREFIX, "max-blob-bytes", 64 * MEBIBYTE);
    mostJoinValues = number(options, PREFIX, "join-values", 10_000);
  }

  static long number(CaseInsensitiveStringMap options, String prefix, String key, long usual) {
    String said = options.getOrDefault(prefix + key, String.valueOf(usual));
    try {
      long number = Long.parseLong(said.trim());
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a negative number.
    }
    throw new IllegalArgumentException(
        String.format(Locale.ROOT, "%s%s must be a number of 0 or more: %s", prefix, key, said));
  }
}
