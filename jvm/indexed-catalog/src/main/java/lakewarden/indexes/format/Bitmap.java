package lakewarden.indexes.format;

import java.nio.ByteBuffer;
import java.util.Collection;
import org.roaringbitmap.RoaringBitmap;
import org.roaringbitmap.buffer.ImmutableRoaringBitmap;

/** Rows by value, by word, by character sequence, or by the bits of a value's rank. */
final class Bitmap implements Index {
  /** More distinct keys than this are not joined; all rows with a value stand for them. */
  private static final int MOST_JOINED = 4096;

  private final Envelope envelope;
  private final ByteBuffer body;
  private final Dictionary dictionary;
  private final RoaringBitmap nulls;

  /** Where the bitmaps (or slices) begin in the body, with one more for the end. */
  private final int[] starts;

  private final boolean sliced;

  Bitmap(Envelope envelope) throws Unusable {
    this.envelope = envelope;
    body = envelope.body();
    int size = body.getInt(0);
    int length = body.getInt(4);
    dictionary = new Dictionary(envelope, 8, length, size);
    int at = 8 + length;
    int nullBytes = body.getInt(at);
    nulls = bitmap(at + 4, nullBytes).toRoaringBitmap();
    at += 4 + nullBytes;
    sliced = envelope.kind() == Envelope.BITMAP_SLICED;
    starts = sliced ? slices(at) : offsets(at, size);
  }

  private int[] offsets(int at, int size) throws Unusable {
    int base = at + 4 * (size + 1);
    if (base > body.capacity()) {
      throw new Unusable("offsets behind the end");
    }
    int[] found = new int[size + 1];
    for (int i = 0; i <= size; i++) {
      found[i] = base + body.getInt(at + 4 * i);
    }
    return found;
  }

  private int[] slices(int at) throws Unusable {
    int count = body.getInt(at);
    if (count < 0 || count > Integer.SIZE || (count < 31 && dictionary.size() > 1L << count)) {
      throw new Unusable(count + " slices");
    }
    int[] found = new int[count + 1];
    int from = at + 4;
    for (int i = 0; i < count; i++) {
      found[i] = from + 4;
      from += 4 + body.getInt(from);
    }
    found[count] = from + 4;
    return found;
  }

  private ImmutableRoaringBitmap bitmap(int from, int length) {
    ByteBuffer part = body.duplicate();
    part.position(from).limit(from + length);
    return new ImmutableRoaringBitmap(part.slice());
  }

  private RoaringBitmap stored(int i) {
    int end = starts[i + 1] - (sliced ? 4 : 0);
    return bitmap(starts[i], end - starts[i]).toRoaringBitmap();
  }

  @Override
  public Answer ask(Leaf leaf) {
    if (leaf.kind == Leaf.Kind.IS_NULL) {
      return new Answer(nulls, valued());
    }
    if (envelope.kind() >= Envelope.TOKEN_BLOOM) {
      return leaf.pattern == null ? Answer.UNKNOWN : pieces(leaf);
    }
    switch (leaf.kind) {
      case EQUALS:
        return oneOf(leaf);
      case LESS:
        return exact(ranks(0, dictionary.lowerBound(leaf.values.get(0))));
      case LESS_OR_EQUAL:
        return exact(ranks(0, dictionary.upperBound(leaf.values.get(0))));
      case GREATER:
        return exact(ranks(dictionary.upperBound(leaf.values.get(0)), dictionary.size()));
      case GREATER_OR_EQUAL:
        return exact(ranks(dictionary.lowerBound(leaf.values.get(0)), dictionary.size()));
      case BETWEEN:
        // Both bounds are asked by themselves too, and say more.
        return Answer.UNKNOWN;
      default:
        return begins(leaf);
    }
  }

  /** The rows that have every piece: more than those that have the text. */
  private Answer pieces(Leaf leaf) {
    Collection<Value> pieces = envelope.pieces(leaf);
    RoaringBitmap rows = null;
    for (Value piece : pieces) {
      int at = dictionary.lowerBound(piece);
      if (at == dictionary.upperBound(piece)) {
        return new Answer(new RoaringBitmap(), valued());
      }
      RoaringBitmap found = stored(at);
      if (rows == null) {
        rows = found;
      } else {
        rows.and(found);
      }
    }
    return new Answer(rows == null ? valued() : rows, valued());
  }

  private Answer oneOf(Leaf leaf) {
    RoaringBitmap ranks = new RoaringBitmap();
    for (Value value : leaf.values) {
      int at = dictionary.lowerBound(value);
      if (at < dictionary.upperBound(value)) {
        ranks.add(at);
      }
    }
    if (ranks.getCardinality() > MOST_JOINED) {
      return new Answer(valued(), valued());
    }
    RoaringBitmap rows = new RoaringBitmap();
    int[] listed = ranks.toArray();
    for (int i = 0; i < listed.length; ) {
      int from = i;
      while (i + 1 < listed.length && listed[i + 1] == listed[i] + 1) {
        i++;
      }
      RoaringBitmap found = ranks(listed[from], listed[i] + 1);
      if (found == null) {
        return new Answer(valued(), valued());
      }
      rows.or(found);
      i++;
    }
    return exact(rows);
  }

  private Answer begins(Leaf leaf) {
    byte[] prefix = leaf.lowered ? new byte[0] : Value.ofString(leaf.pattern.prefix()).bytes;
    if (prefix.length == 0) {
      return new Answer(valued(), valued());
    }
    int from = dictionary.lowerBound(Value.ofBytes(prefix));
    RoaringBitmap rows = ranks(from, dictionary.endOfPrefix(prefix));
    return leaf.pattern.isPrefixAlone()
        ? exact(rows)
        : new Answer(rows == null ? valued() : rows, valued());
  }

  /** Both sides of a condition whose rows are known; null rows stand on neither. */
  private Answer exact(RoaringBitmap rows) {
    if (rows == null) {
      return new Answer(valued(), valued());
    }
    return new Answer(rows, RoaringBitmap.andNot(valued(), rows));
  }

  private RoaringBitmap valued() {
    RoaringBitmap all = new RoaringBitmap();
    all.add(0L, envelope.rows());
    all.andNot(nulls);
    return all;
  }

  /** The rows of the keys from..to-1; null where they are too many to join. */
  private RoaringBitmap ranks(int from, int to) {
    if (from >= to) {
      return new RoaringBitmap();
    }
    if (from == 0 && to == dictionary.size()) {
      return valued();
    }
    if (sliced) {
      RoaringBitmap below = below(to);
      if (from > 0) {
        below.andNot(below(from));
      }
      return below;
    }
    if (to - from <= MOST_JOINED) {
      return joined(from, to);
    }
    int others = dictionary.size() - (to - from);
    if (others > MOST_JOINED) {
      return null;
    }
    RoaringBitmap rows = valued();
    rows.andNot(joined(0, from));
    rows.andNot(joined(to, dictionary.size()));
    return rows;
  }

  private RoaringBitmap joined(int from, int to) {
    RoaringBitmap rows = new RoaringBitmap();
    for (int i = from; i < to; i++) {
      rows.or(stored(i));
    }
    return rows;
  }

  /** The rows whose rank is less than `rank`, walking its bits from the highest. */
  private RoaringBitmap below(int rank) {
    RoaringBitmap equal = valued();
    if (rank >= dictionary.size()) {
      return equal;
    }
    RoaringBitmap less = new RoaringBitmap();
    for (int j = starts.length - 2; j >= 0; j--) {
      RoaringBitmap slice = stored(j);
      if ((rank >>> j & 1) != 0) {
        less.or(RoaringBitmap.andNot(equal, slice));
        equal.and(slice);
      } else {
        equal.andNot(slice);
      }
    }
    return less;
  }

  @Override
  public long bytes() {
    return envelope.blob().length + nulls.getLongSizeInBytes() + dictionary.bytes()
        + (long) Integer.BYTES * starts.length;
  }
}
