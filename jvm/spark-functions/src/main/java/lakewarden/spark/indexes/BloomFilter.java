package lakewarden.spark.indexes;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A Bloom filter of hashes, as docs/indexes.md has it. */
final class BloomFilter implements Filter {
  private static final int HEAD = 24;
  private static final int MOST_HASHES = 30;

  private final ByteBuffer body;
  private final int k;
  private final long m;

  /** 2^64 modulo m. */
  private final long over;

  private BloomFilter(int k, long m, int n) {
    this.k = k;
    this.m = m;
    over = m == 0 ? 0 : Long.remainderUnsigned(-m, m);
    body = ByteBuffer.allocate(HEAD + (int) (m >>> 3)).order(ByteOrder.LITTLE_ENDIAN);
    body.put(0, (byte) k).putLong(8, m).putLong(16, n);
  }

  /** The filter of these distinct hashes. */
  static BloomFilter of(long[] hashes, double bitsAKey) {
    int n = hashes.length;
    if (n == 0) {
      return new BloomFilter(1, 0, 0);
    }
    long m = (long) Math.ceil(n * bitsAKey / 64) * 64;
    int k = (int) Math.min(MOST_HASHES, Math.max(1, Math.rint((double) m / n * Math.log(2))));
    BloomFilter filter = new BloomFilter(k, m, n);
    for (long hash : hashes) {
      filter.visit(hash, true);
    }
    return filter;
  }

  @Override
  public byte[] body() {
    return body.array();
  }

  @Override
  public boolean mightHold(long hash) {
    return m > 0 && visit(hash, false);
  }

  /**
   * Set the bits of a hash, or tell whether all are set. `hash + i * step modulo 2^64 modulo m` is
   * found by adding remainders, because a division costs more than all the rest; where the sum runs
   * over 2^64, the remainder of that is taken off.
   */
  private boolean visit(long hash, boolean isSet) {
    byte[] bits = body.array();
    long step = Hashing.mix(hash ^ Hashing.GOLDEN) | 1;
    long place = Long.remainderUnsigned(hash, m);
    long more = Long.remainderUnsigned(step, m);
    long sum = hash;
    for (int i = 0; ; ) {
      int at = HEAD + (int) (place >>> 3);
      int bit = 1 << (place & 7);
      if (isSet) {
        bits[at] |= (byte) bit;
      } else if ((bits[at] & bit) == 0) {
        return false;
      }
      if (++i == k) {
        return true;
      }
      sum += step;
      place += more;
      place -= place >= m ? m : 0;
      if (Long.compareUnsigned(sum, step) < 0) {
        place -= over;
        place += place < 0 ? m : 0;
      }
    }
  }
}
