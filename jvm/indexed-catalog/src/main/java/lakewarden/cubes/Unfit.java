package lakewarden.cubes;

import java.util.Locale;

/** A query that a cube does not answer, with the first rule that failed. */
final class Unfit extends RuntimeException {
  Unfit(String reason, Object... values) {
    super(String.format(Locale.ROOT, reason, values), null, false, false);
  }
}
