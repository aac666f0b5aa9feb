package lakewarden.indexes.format;

import java.nio.ByteBuffer;
import java.util.Collection;

/** Bloom filters over values, words and character sequences. */
final class Bloom implements Index {
  private static final int HEADER = 24;
  private static final long SECOND = 0x9E3779B97F4A7C15L;

  private final Envelope envelope;
  private final int k;
  private final long m;
  private final Bits bits;

  Bloom(Envelope envelope) throws Unusable {
    this.envelope = envelope;
    ByteBuffer body = envelope.body();
    k = body.get(0) & 0xff;
    m = body.getLong(8);
    if (m % 64 != 0 || body.capacity() != HEADER + m / 8 || (m > 0 && k == 0)) {
      throw new Unusable("a filter of odd measures");
    }
    bits = new Bits(envelope.blob(), Envelope.BODY + HEADER, m);
  }

  boolean mayHold(Value value) {
    if (m == 0) {
      return false;
    }
    long h1 = Hashing.hash(value.bytes);
    long h2 = Hashing.mix(h1 ^ SECOND) | 1;
    for (int i = 0; i < k; i++) {
      if (!bits.get(Long.remainderUnsigned(h1 + i * h2, m))) {
        return false;
      }
    }
    return true;
  }

  @Override
  public Answer ask(Leaf leaf) {
    if (leaf.kind == Leaf.Kind.IS_NULL) {
      return envelope.hasNulls() ? Answer.UNKNOWN : Answer.NEVER;
    }
    if (envelope.kind() == Envelope.BLOOM) {
      boolean possible =
          leaf.kind != Leaf.Kind.EQUALS || leaf.values.stream().anyMatch(this::mayHold);
      return possible ? Answer.UNKNOWN : Answer.NEVER;
    }
    if (leaf.pattern == null) {
      return Answer.UNKNOWN;
    }
    Collection<Value> pieces = envelope.pieces(leaf);
    return pieces.stream().allMatch(this::mayHold) ? Answer.UNKNOWN : Answer.NEVER;
  }

  @Override
  public long bytes() {
    return envelope.blob().length;
  }
}
