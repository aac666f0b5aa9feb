package lakewarden.spark.indexes;

import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** The text of one value with A-Z folded to a-z: as bytes, and as code points if not all ASCII. */
final class Text {
  static final int LONGEST_WORD = 256;

  /** Of an ASCII letter. */
  static final int BITS = 7;

  private static final int DOTTED_I = 0x130;
  private static final int KELVIN = 0x212A;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final int LEAST_OF_TWO = 0x80;
  private static final int LEAST_OF_THREE = 0x800;
  private static final int LEAST_OF_FOUR = 0x10000;

  byte[] bytes = new byte[256];
  int length;
  boolean isAscii;

  /** Only where the text is not all ASCII. */
  int[] points = new int[0];

  int count;

  /** Whether a letter was met that becomes ASCII when it is lowered. */
  boolean isOdd;

  /** Take in a text; false where it is not UTF-8. */
  boolean read(UTF8String text) {
    length = text.numBytes();
    if (bytes.length < length) {
      bytes = new byte[length + (length >> 1)];
    }
    text.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET);
    isAscii = allAscii();
    if (!isAscii && !decode()) {
      return false;
    }
    for (int at = 0; at < length; at++) {
      int one = bytes[at];
      // Without a branch, so that many bytes are folded at once.
      bytes[at] = (byte) (one + (('A' - 1 - one & one - 'Z' - 1) >>> 31 << 5));
    }
    return true;
  }

  private boolean allAscii() {
    long seen = 0;
    int at = 0;
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      seen |= Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + at);
    }
    for (; at < length; at++) {
      seen |= bytes[at];
    }
    return (seen & HIGH_BITS) == 0;
  }

  /** By the strict rules of UTF-8: nothing longer than it must be, no surrogates. */
  private boolean decode() {
    if (points.length < length) {
      points = new int[length];
    }
    count = 0;
    for (int at = 0; at < length; ) {
      int lead = bytes[at] & 0xFF;
      int more = lead < 0x80 ? 0 : lead < 0xC2 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
      if (more < 0 || lead > 0xF4 || at + more >= length) {
        return false;
      }
      int point = more == 0 ? lead : lead & (0x3F >> more);
      for (int next = at + 1; next <= at + more; next++) {
        if ((bytes[next] & 0xC0) != 0x80) {
          return false;
        }
        point = point << 6 | bytes[next] & 0x3F;
      }
      if (!isWhole(point, more)) {
        return false;
      }
      isOdd |= point == DOTTED_I || point == KELVIN;
      points[count++] = point >= 'A' && point <= 'Z' ? point + 32 : point;
      at += more + 1;
    }
    return true;
  }

  private static boolean isWhole(int point, int more) {
    int least =
        more == 3 ? LEAST_OF_FOUR : more == 2 ? LEAST_OF_THREE : more == 1 ? LEAST_OF_TWO : 0;
    boolean isSurrogate = point >= 0xD800 && point <= 0xDFFF;
    return point >= least && point <= Character.MAX_CODE_POINT && !isSurrogate;
  }

  /** The end of the word that begins at this byte; where none does, this byte itself. */
  int wordEnd(int start) {
    int end = start;
    while (end < length && isInWord(bytes[end])) {
      end++;
    }
    return end;
  }

  private static boolean isInWord(byte one) {
    return one >= 'a' && one <= 'z' || one >= '0' && one <= '9';
  }

  /** The n-gram that begins at this code point, as a number. */
  long ngram(int start, int n) {
    long number = 0;
    for (int at = start; at < start + n; at++) {
      number = number << 21 | (isAscii ? bytes[at] : points[at]);
    }
    return number;
  }

  /** How many n-grams there are. */
  int ngrams(int n) {
    return Math.max(0, (isAscii ? length : count) - n + 1);
  }
}
