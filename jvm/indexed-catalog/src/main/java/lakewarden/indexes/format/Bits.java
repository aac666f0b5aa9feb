package lakewarden.indexes.format;

/** The bits of a filter, in the bytes of its blob. */
final class Bits {
  private final byte[] bytes;
  private final int at;

  Bits(byte[] bytes, int at, long bits) throws Unusable {
    if (bits < 0 || bits / 8 > bytes.length - at) {
      throw new Unusable("bits that the blob has not");
    }
    this.bytes = bytes;
    this.at = at;
  }

  boolean get(long bit) {
    return (bytes[at + (int) (bit >>> 3)] >> (bit & 7) & 1) != 0;
  }
}
