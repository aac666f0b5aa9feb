package lakewarden.spark.indexes;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Builds a filter of distinct keys: of hashes, or of order numbers for ranges. */
final class KeyFilter implements Builder {
  private static final int ASKED = 2_000;
  private static final double MILLION = 1e6;

  private final boolean isRanged;
  private final double bitsAKey;
  private final int mostKeys;
  private KeySet keys = new KeySet();

  KeyFilter(boolean isRanged, double bitsAKey, int mostKeys) {
    this.isRanged = isRanged;
    this.bitsAKey = bitsAKey;
    this.mostKeys = mostKeys;
  }

  @Override
  public void add(Cell cell, int row) {
    if (!cell.isNull) {
      addKey(isRanged ? cell.order() : cell.hash());
    }
  }

  void addKey(long key) {
    if (keys != null) {
      keys.add(key);
      if (keys.size() > mostKeys) {
        keys = null;
      }
    }
  }

  @Override
  public Body finish() {
    if (keys == null) {
      return Body.refused("too many keys");
    }
    long[] all = keys.all();
    Filter filter = isRanged ? RangeFilter.of(all, bitsAKey) : BloomFilter.of(all, bitsAKey);
    int form = isRanged ? Body.BLOOMRF : Body.BLOOM;
    return Body.of(form, filter.body(), passed(filter, all), all.length);
  }

  /** How many of a million absent keys the filter lets through, by asking it for some. */
  private int passed(Filter filter, long[] all) {
    if (all.length == 0) {
      return 0;
    }
    long low = isRanged ? Arrays.stream(all).reduce(all[0], KeyFilter::lesser) : 0;
    long high = isRanged ? Arrays.stream(all).reduce(all[0], KeyFilter::greater) : -1;
    long span = high - low + 1;
    SplittableRandom random = new SplittableRandom(all.length);
    int absent = 0;
    int let = 0;
    for (int n = 0; n < ASKED; n++) {
      long drawn = random.nextLong();
      long key = span == 0 ? drawn : low + Long.remainderUnsigned(drawn, span);
      if (!keys.has(key)) {
        absent++;
        let += filter.mightHold(key) ? 1 : 0;
      }
    }
    // Hardly any key of the domain is absent.
    return absent < ASKED / 10 ? Body.UNKNOWN : (int) Math.round(let * MILLION / absent);
  }

  static long lesser(long one, long other) {
    return Long.compareUnsigned(one, other) <= 0 ? one : other;
  }

  static long greater(long one, long other) {
    return Long.compareUnsigned(one, other) >= 0 ? one : other;
  }
}
