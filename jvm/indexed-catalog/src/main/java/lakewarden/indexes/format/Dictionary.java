package lakewarden.indexes.format;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** The distinct keys of a bitmap, ascending: order numbers, decimals of 16 bytes, or byte strings. */
final class Dictionary {
  private static final int DECIMAL_BYTES = 16;

  private final ByteBuffer buffer;
  private final byte[] blob;
  private final int at;
  private final int size;
  private final boolean numbers;

  /** Where each entry begins, with one more for the end; null where all are equally long. */
  private final int[] starts;

  private final int width;

  /** `buffer` is the body, which begins at `base` of the blob; the dictionary at `at` of it. */
  Dictionary(Envelope envelope, int at, int length, int size) throws Unusable {
    this.buffer = envelope.body();
    this.blob = envelope.blob();
    this.at = at;
    this.size = size;
    boolean pieces = envelope.kind() == Envelope.NGRAM_BITMAP;
    numbers = pieces || (envelope.of().hasOrderNumbers() && !envelope.isOfWords());
    boolean decimals = envelope.of() == ValueClass.DECIMAL;
    width = numbers ? Long.BYTES : decimals ? DECIMAL_BYTES : 0;
    if (size < 0 || length < 0 || at + (long) length > buffer.capacity()) {
      throw new Unusable("a dictionary longer than its body");
    }
    if (width > 0) {
      starts = null;
      if ((long) width * size != length) {
        throw new Unusable("a dictionary of another length");
      }
    } else {
      starts = new int[Math.min(size, length / Integer.BYTES) + 1];
      int from = at;
      for (int i = 0; i < size; i++) {
        int bytes = buffer.getInt(from);
        if (bytes < 0 || from + 4L + bytes > at + (long) length) {
          throw new Unusable("a word longer than its dictionary");
        }
        starts[i] = from + 4;
        from += 4 + bytes;
      }
      starts[size] = from + 4;
      if (from != at + length) {
        throw new Unusable("a dictionary of another length");
      }
    }
  }

  int size() {
    return size;
  }

  /** The first entry that is not less than the value. */
  int lowerBound(Value value) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (compare(middle, value) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The first entry that is greater than the value. */
  int upperBound(Value value) {
    int found = lowerBound(value);
    return found < size && compare(found, value) == 0 ? found + 1 : found;
  }

  /** The first entry after all that begin with the prefix. */
  int endOfPrefix(byte[] prefix) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      int from = Envelope.BODY + starts[middle];
      int to = Math.min(Envelope.BODY + starts[middle + 1] - 4, from + prefix.length);
      int side = Arrays.compareUnsigned(blob, from, to, prefix, 0, prefix.length);
      if (side <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private int compare(int i, Value value) {
    if (numbers) {
      return Long.compareUnsigned(buffer.getLong(at + i * width), value.order);
    }
    int from = Envelope.BODY + (starts == null ? at + i * width : starts[i]);
    int to = starts == null ? from + width : Envelope.BODY + starts[i + 1] - 4;
    return Arrays.compareUnsigned(blob, from, to, value.spelling, 0, value.spelling.length);
  }

  long bytes() {
    return starts == null ? 0 : (long) Integer.BYTES * starts.length;
  }
}
