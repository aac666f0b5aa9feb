package lakewarden.indexes.format;

import java.nio.ByteBuffer;

/**
 * A filter for points and ranges: each layer hashes the upper bits of a key and keeps the lower
 * ones in order, so that a run of neighbours is a run of bits.
 */
final class BloomRf implements Index {
  private static final int HEADER = 48;
  private static final int MOST_LAYERS = 15;
  private static final long WIDEST_TOP = 4096;
  private static final long LAYER_SEED = 0x9E3779B97F4A7C15L;

  private final Envelope envelope;
  private final int k;
  private final int[] deltas;
  private final int[] bases;
  private final long low;
  private final long high;
  private final long m;
  private final Bits bits;

  BloomRf(Envelope envelope) throws Unusable {
    this.envelope = envelope;
    ByteBuffer body = envelope.body();
    k = body.get(0) & 0xff;
    low = body.getLong(16);
    high = body.getLong(24);
    m = body.getLong(32);
    if (k > MOST_LAYERS || m % 128 != 0 || body.capacity() != HEADER + m / 8 || (m > 0 && k == 0)) {
      throw new Unusable("a range filter of odd measures");
    }
    deltas = new int[k];
    bases = new int[k];
    int base = 0;
    for (int i = 0; i < k; i++) {
      deltas[i] = body.get(1 + i);
      bases[i] = base;
      base += deltas[i];
      // Words of 2^(delta-1) bits must divide m.
      if (deltas[i] < 1 || deltas[i] > 16 || m % (1L << (deltas[i] - 1)) != 0 || bases[i] > 63) {
        throw new Unusable("a range filter with a layer of " + deltas[i] + " bits");
      }
    }
    bits = new Bits(envelope.blob(), Envelope.BODY + HEADER, m);
  }

  /** Whether a key may lie in [from, to]; both are order numbers and belong to the range. */
  boolean mayHold(long from, long to) {
    if (m == 0 || Long.compareUnsigned(from, to) > 0 || Long.compareUnsigned(from, high) > 0
        || Long.compareUnsigned(to, low) < 0) {
      return false;
    }
    long first = (Long.compareUnsigned(from, low) > 0 ? from : low) - low;
    long last = (Long.compareUnsigned(to, high) < 0 ? to : high) - low;
    return first == last ? holdsPoint(first) : holdsSome(first, last);
  }

  private boolean holdsPoint(long x) {
    for (int i = 0; i < k; i++) {
      if (!get(i, x >>> bases[i])) {
        return false;
      }
    }
    return true;
  }

  /** Go down from the coarsest layer along the two edges of the range. */
  private boolean holdsSome(long first, long last) {
    boolean left = true;
    boolean right = true;
    boolean together = true;
    for (int i = k - 1; i >= 0; i--) {
      long a = first >>> bases[i];
      long b = last >>> bases[i];
      if (together) {
        if (Long.compareUnsigned(b - a, WIDEST_TOP) > 0) {
          return true;
        }
        if (a == b) {
          if (!get(i, a)) {
            return false;
          }
          continue;
        }
        together = false;
        if (anySet(i, a + 1, b - 1)) {
          return true;
        }
        left = get(i, a);
        right = get(i, b);
      } else {
        // Children of the two edges' prefixes; those beyond the edge itself lie in the range.
        long lastOfLeft = a | mask(i);
        long firstOfRight = b & ~mask(i);
        if (left && a != lastOfLeft && anySet(i, a + 1, lastOfLeft)) {
          return true;
        }
        if (right && b != firstOfRight && anySet(i, firstOfRight, b - 1)) {
          return true;
        }
        left = left && get(i, a);
        right = right && get(i, b);
      }
      if (!left && !right) {
        return false;
      }
    }
    // At the finest layer each edge is one key.
    return true;
  }

  private long mask(int layer) {
    return (1L << deltas[layer]) - 1;
  }

  /** Whether a bit of the prefixes from..to is set; they are few, and may be none. */
  private boolean anySet(int layer, long from, long to) {
    int shift = deltas[layer] - 1;
    long inWord = (1L << shift) - 1;
    for (long p = from; Long.compareUnsigned(p, to) <= 0; ) {
      long word = word(layer, p);
      long end = p | inWord;
      for (; Long.compareUnsigned(p, to) <= 0; p++) {
        if (bits.get(word + (p & inWord))) {
          return true;
        }
        if (p == end) {
          p++;
          break;
        }
      }
    }
    return false;
  }

  private boolean get(int layer, long prefix) {
    return bits.get(word(layer, prefix) + (prefix & ((1L << (deltas[layer] - 1)) - 1)));
  }

  /** Where the prefix's word begins. */
  private long word(int layer, long prefix) {
    int shift = deltas[layer] - 1;
    long hashed = Hashing.mix((prefix >>> shift) + (layer + 1) * LAYER_SEED);
    return Long.remainderUnsigned(hashed, m >>> shift) << shift;
  }

  @Override
  public Answer ask(Leaf leaf) {
    if (leaf.kind == Leaf.Kind.IS_NULL) {
      return envelope.hasNulls() ? Answer.UNKNOWN : Answer.NEVER;
    }
    if (!leaf.values.stream().allMatch(value -> value.ordered)) {
      return Answer.UNKNOWN;
    }
    return mayHold(leaf) ? Answer.UNKNOWN : Answer.NEVER;
  }

  private boolean mayHold(Leaf leaf) {
    switch (leaf.kind) {
      case EQUALS:
        return leaf.values.stream().anyMatch(value -> mayHold(value.order, value.order));
      case BETWEEN:
        return mayHold(leaf.values.get(0).order, leaf.values.get(1).order);
      case LESS:
        return below(leaf.values.get(0));
      case LESS_OR_EQUAL:
        return mayHold(0, leaf.values.get(0).order);
      case GREATER:
        return above(leaf.values.get(0));
      case GREATER_OR_EQUAL:
        return mayHold(leaf.values.get(0).order, -1);
      case LIKE:
        return begins(leaf);
      default:
        return true;
    }
  }

  private boolean below(Value value) {
    if (!envelope.of().hasOrderNumbers() && envelope.of() != ValueClass.DECIMAL) {
      return mayHold(0, value.order);
    }
    return value.order != 0 && mayHold(0, value.order - 1);
  }

  private boolean above(Value value) {
    if (!envelope.of().hasOrderNumbers() && envelope.of() != ValueClass.DECIMAL) {
      return mayHold(value.order, -1);
    }
    return value.order != -1 && mayHold(value.order + 1, -1);
  }

  private boolean begins(Leaf leaf) {
    String prefix = leaf.lowered ? "" : leaf.pattern.prefix();
    byte[] bytes = Value.ofString(prefix).bytes;
    return bytes.length == 0
        || mayHold(Value.prefixOrder(bytes, 0), Value.prefixOrder(bytes, 0xff));
  }

  @Override
  public long bytes() {
    return envelope.blob().length;
  }
}
