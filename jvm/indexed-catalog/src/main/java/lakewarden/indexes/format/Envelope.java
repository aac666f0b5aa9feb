package lakewarden.indexes.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32;

/** What stands round the body of every index, and the checks that it is the index meant. */
public final class Envelope {
  static final int BLOOM = 1;
  static final int BITMAP_EQUALITY = 2;
  static final int BITMAP_SLICED = 3;
  static final int BLOOM_RF = 4;
  static final int TOKEN_BLOOM = 5;
  static final int NGRAM_BLOOM = 6;
  static final int TOKEN_BITMAP = 7;
  static final int NGRAM_BITMAP = 8;

  static final int BODY = 48;
  private static final int CRC = 4;
  private static final int MAGIC = 0x5849574c; // LWIX, little-endian
  private static final int VERSION = 1;
  private static final int HAS_NULLS = 1;
  private static final int FOLDED = 4;
  private static final int LETTERS_THAT_BECOME_ASCII = 8;
  private static final int KNOWN_FLAGS = 15;

  private final byte[] blob;
  private final ByteBuffer buffer;
  private final ValueClass of;

  private Envelope(byte[] blob) throws Unusable {
    this.blob = blob;
    this.buffer = ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN);
    if (blob.length < BODY + CRC || buffer.getInt(0) != MAGIC) {
      throw new Unusable("not an index");
    }
    if (blob[4] != VERSION) {
      throw new Unusable("version " + (blob[4] & 0xff));
    }
    long body = buffer.getInt(44) & 0xffffffffL;
    if (body != blob.length - BODY - CRC) {
      throw new Unusable("cut");
    }
    CRC32 crc = new CRC32();
    crc.update(blob, 0, blob.length - CRC);
    if ((int) crc.getValue() != buffer.getInt(blob.length - CRC)) {
      throw new Unusable("damaged");
    }
    if ((blob[7] & ~KNOWN_FLAGS) != 0) {
      throw new Unusable("unknown flags");
    }
    of = ValueClass.of(blob[6] & 0xff);
  }

  /**
   * Read an index and check that it is of this column of this data file of this table.
   *
   * @throws Unusable if it is damaged, unknown or of something else
   */
  public static Index read(
      byte[] blob, UUID table, int field, String dataFile, long rows, ValueClass of, int scale)
      throws Unusable {
    Envelope envelope = new Envelope(blob);
    boolean same =
        envelope.table().equals(table)
            && envelope.field() == field
            && envelope.rows() == rows
            && envelope.buffer.getLong(16) == Hashing.hash(dataFile);
    if (!same) {
      throw new Unusable("of another table, column or data file");
    }
    boolean alike = envelope.of == of && (of != ValueClass.DECIMAL || envelope.scale() == scale);
    if (!alike) {
      throw new Unusable("of another type than the column has now");
    }
    return envelope.index();
  }

  /** Read an index by itself, whatever it is of. */
  public static Index read(byte[] blob) throws Unusable {
    return new Envelope(blob).index();
  }

  private Index index() throws Unusable {
    try {
      switch (kind()) {
        case BLOOM:
        case TOKEN_BLOOM:
        case NGRAM_BLOOM:
          return new Bloom(checked());
        case BLOOM_RF:
          return new BloomRf(this);
        case BITMAP_EQUALITY:
        case BITMAP_SLICED:
        case TOKEN_BITMAP:
        case NGRAM_BITMAP:
          return new Bitmap(checked());
        default:
          throw new Unusable("unknown kind " + kind());
      }
    } catch (RuntimeException badBody) {
      throw new Unusable("a body that does not hold together: " + badBody);
    }
  }

  private Envelope checked() throws Unusable {
    if (kind() < TOKEN_BLOOM) {
      return this;
    }
    boolean sequences = kind() == NGRAM_BLOOM || kind() == NGRAM_BITMAP;
    if (of != ValueClass.STRING || (flags() & FOLDED) == 0 || (sequences && (n() < 1 || n() > 3))) {
      throw new Unusable("pieces of an unknown kind");
    }
    return this;
  }

  byte[] blob() {
    return blob;
  }

  ByteBuffer body() {
    ByteBuffer whole = buffer.duplicate();
    whole.position(BODY).limit(blob.length - CRC);
    return whole.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  int kind() {
    return blob[5];
  }

  ValueClass of() {
    return of;
  }

  long rows() {
    return buffer.getInt(12) & 0xffffffffL;
  }

  boolean hasNulls() {
    return (flags() & HAS_NULLS) != 0;
  }

  boolean isOfWords() {
    return kind() == TOKEN_BLOOM || kind() == TOKEN_BITMAP;
  }

  /** The pieces of this index that every text of the leaf has. */
  Collection<Value> pieces(Leaf leaf) {
    if (leaf.lowered && (flags() & LETTERS_THAT_BECOME_ASCII) != 0) {
      return List.of();
    }
    return isOfWords()
        ? TextPieces.words(leaf.pattern)
        : TextPieces.windows(leaf.pattern, n(), leaf.lowered);
  }

  private int flags() {
    return blob[7];
  }

  private int field() {
    return buffer.getInt(8);
  }

  private UUID table() {
    ByteBuffer bytes = ByteBuffer.wrap(blob, 24, 16);
    return new UUID(bytes.getLong(), bytes.getLong());
  }

  private int scale() {
    return blob[40];
  }

  private int n() {
    return blob[41];
  }
}
