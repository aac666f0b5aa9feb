package lakewarden.spark.indexes;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A filter for ranges of order numbers, as docs/indexes.md has it. */
final class RangeFilter implements Filter {
  private static final int HEAD = 48;

  /** The best of those that were measured for keys that are sparse in 64 bits. */
  private static final int[] WIDE = {7, 7, 7, 4, 4, 2, 2, 2};

  private static final int WIDE_BITS = Arrays.stream(WIDE).sum();

  private final ByteBuffer body;
  private final int[] deltas;
  private final long low;
  private final long m;

  private RangeFilter(int[] deltas, long low, long high, long m, int n) {
    this.deltas = deltas;
    this.low = low;
    this.m = m;
    body = ByteBuffer.allocate(HEAD + (int) (m >>> 3)).order(ByteOrder.LITTLE_ENDIAN);
    body.put(0, (byte) deltas.length);
    for (int layer = 0; layer < deltas.length; layer++) {
      body.put(1 + layer, (byte) deltas[layer]);
    }
    body.putLong(16, low).putLong(24, high).putLong(32, m).putLong(40, n);
  }

  /** The filter of these distinct order numbers. */
  static RangeFilter of(long[] numbers, double bitsAKey) {
    int n = numbers.length;
    if (n == 0) {
      return new RangeFilter(new int[0], 0, 0, 0, 0);
    }
    long low = numbers[0];
    long high = numbers[0];
    for (long number : numbers) {
      low = KeyFilter.lesser(low, number);
      high = KeyFilter.greater(high, number);
    }
    int width = Long.SIZE - Long.numberOfLeadingZeros(high - low);
    long m = (long) Math.ceil(n * bitsAKey / 128) * 128;
    RangeFilter filter = new RangeFilter(chosenDeltas(width, n), low, high, m, n);
    for (long number : numbers) {
      filter.visit(number, true);
    }
    return filter;
  }

  /** How many bits each layer adds: prefixes that are fewer than the keys are all set. */
  private static int[] chosenDeltas(int width, int keys) {
    int log = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(keys);
    int useful = width - log + 1;
    if (useful >= WIDE_BITS) {
      return WIDE;
    }
    useful = Math.max(useful, 1);
    int[] deltas = new int[Math.min(WIDE.length, useful)];
    for (int at = 0; at < deltas.length; at++) {
      deltas[at] = useful / deltas.length + (at < useful % deltas.length ? 1 : 0);
    }
    return deltas;
  }

  @Override
  public byte[] body() {
    return body.array();
  }

  @Override
  public boolean mightHold(long number) {
    return m > 0 && visit(number, false);
  }

  /** Set the bits of a number in all layers, or tell whether all are set. */
  private boolean visit(long number, boolean isSet) {
    byte[] bits = body.array();
    long key = number - low;
    int base = 0;
    for (int layer = 0; layer < deltas.length; layer++) {
      int delta = deltas[layer];
      long prefix = base < Long.SIZE ? key >>> base : 0;
      int shift = delta - 1;
      long seed = (layer + 1) * Hashing.GOLDEN;
      long word = Hashing.mix((prefix >>> shift) + seed);
      long place =
          (Long.remainderUnsigned(word, m >>> shift) << shift) + (prefix & ((1L << shift) - 1));
      int at = HEAD + (int) (place >>> 3);
      int bit = 1 << (place & 7);
      if (isSet) {
        bits[at] |= (byte) bit;
      } else if ((bits[at] & bit) == 0) {
        return false;
      }
      base += delta;
    }
    return true;
  }
}
