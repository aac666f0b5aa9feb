package lakewarden.spark.indexes;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;
import org.roaringbitmap.RoaringBitmap;
import org.roaringbitmap.RoaringBitmapWriter;

/**
 * Builds the bitmap of a column: by equality for few values, by the bits of the rank for many. Each
 * row's value is held as a number of 1, 2 or 4 bytes until the end, because a rank is known only
 * when all values are.
 */
final class BitmapBuilder implements Builder {
  private static final int MOST_BY_EQUALITY = 100;
  private static final int MOST_VALUES = 1 << 18;
  private static final int MOST_VALUE_BYTES = 16 << 20;
  private static final int CHUNK = 1 << 16;
  private static final int DECIMAL_BYTES = 16;

  private final RoaringBitmapWriter<RoaringBitmap> nulls = RoaringBitmapWriter.writer().get();

  /** The distinct order numbers; of texts their hashes, each with the text of its place. */
  private final LongSet numbers = new LongSet();

  private final List<UTF8String> texts = new ArrayList<>();
  private final List<Object> full = new ArrayList<>();
  private int[] codes = new int[CHUNK];
  private int rows;
  private long bytes;
  private boolean isNumber = true;
  private boolean isDecimal;
  private String refused = "";

  /** Number 0 is a null; a value's number is one more than its place among the distinct ones. */
  @Override
  public void add(Cell cell, int row) {
    if (!refused.isEmpty()) {
      return;
    }
    int at = row % CHUNK;
    if (row > 0 && at == 0) {
      full.add(packed(CHUNK));
    }
    rows = row + 1;
    if (cell.isNull) {
      nulls.add(row);
      codes[at] = 0;
      return;
    }
    int known = values();
    codes[at] = 1 + (cell.isNumber() ? numbers.add(cell.order()) : text(cell));
    if (values() > known) {
      limit(cell);
    }
  }

  private int text(Cell cell) {
    isNumber = false;
    isDecimal = cell.isDecimal();
    // Of two texts of one hash the second has the number after it, and so on.
    for (long hash = cell.hash(); ; hash++) {
      int place = numbers.add(hash);
      if (place == texts.size()) {
        texts.add(UTF8String.fromBytes(cell.bytes.getBytes().clone()));
        return place;
      }
      if (texts.get(place).equals(cell.bytes)) {
        return place;
      }
    }
  }

  private int values() {
    return numbers.size();
  }

  private void limit(Cell cell) {
    bytes += isDecimal ? DECIMAL_BYTES : isNumber ? Long.BYTES : cell.bytes.numBytes();
    if (values() > MOST_VALUES) {
      refused = "too many values";
    } else if (bytes > MOST_VALUE_BYTES) {
      refused = "too many bytes";
    }
  }

  /** The numbers of a chunk, as short as they can be. */
  private Object packed(int count) {
    int most = values();
    if (most < 1 << 8) {
      byte[] small = new byte[count];
      for (int at = 0; at < count; at++) {
        small[at] = (byte) codes[at];
      }
      return small;
    }
    if (most < 1 << 16) {
      char[] middle = new char[count];
      for (int at = 0; at < count; at++) {
        middle[at] = (char) codes[at];
      }
      return middle;
    }
    return Arrays.copyOf(codes, count);
  }

  @Override
  public Body finish() {
    if (!refused.isEmpty()) {
      return Body.refused(refused);
    }
    int count = values();
    int[] ranks = new int[count + 1];
    byte[] dictionary = isNumber ? ofNumbers(ranks) : ofTexts(ranks);
    boolean bySlices = count > MOST_BY_EQUALITY;
    int width = bySlices ? Integer.SIZE - Integer.numberOfLeadingZeros(count - 1) : 0;
    List<RoaringBitmapWriter<RoaringBitmap>> bitmaps = new ArrayList<>();
    for (int at = 0; at < (bySlices ? width : count); at++) {
      bitmaps.add(RoaringBitmapWriter.writer().get());
    }
    full.add(packed(rows == 0 ? 0 : (rows - 1) % CHUNK + 1));
    spread(ranks, bitmaps, bySlices);
    List<byte[]> parts = new ArrayList<>(bitmaps.size());
    bitmaps.forEach(one -> parts.add(BitmapBody.packed(one.get())));
    return bySlices
        ? Body.of(
            Body.BITMAP_SLICED, BitmapBody.bySlices(count, dictionary, nulls, parts), 0, count)
        : Body.of(Body.BITMAP_EQUALITY, BitmapBody.byKey(dictionary, nulls, parts), 0, count);
  }

  private void spread(
      int[] ranks, List<RoaringBitmapWriter<RoaringBitmap>> bitmaps, boolean bySlices) {
    int row = 0;
    for (Object chunk : full) {
      int count = java.lang.reflect.Array.getLength(chunk);
      for (int at = 0; at < count; at++, row++) {
        int code = code(chunk, at);
        if (code == 0) {
          continue;
        }
        int rank = ranks[code];
        if (!bySlices) {
          bitmaps.get(rank).add(row);
          continue;
        }
        for (int bits = rank; bits != 0; bits &= bits - 1) {
          bitmaps.get(Integer.numberOfTrailingZeros(bits)).add(row);
        }
      }
    }
  }

  private static int code(Object chunk, int at) {
    if (chunk instanceof byte[]) {
      return ((byte[]) chunk)[at] & 0xFF;
    }
    return chunk instanceof char[] ? ((char[]) chunk)[at] : ((int[]) chunk)[at];
  }

  private byte[] ofNumbers(int[] ranks) {
    long[] inOrder = numbers.all();
    long[] sorted = new long[inOrder.length];
    for (int at = 0; at < sorted.length; at++) {
      sorted[at] = inOrder[at] ^ Long.MIN_VALUE;
    }
    Arrays.sort(sorted);
    ByteBuffer written =
        ByteBuffer.allocate(sorted.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int rank = 0; rank < sorted.length; rank++) {
      long number = sorted[rank] ^ Long.MIN_VALUE;
      written.putLong(number);
      ranks[1 + numbers.add(number)] = rank;
    }
    return written.array();
  }

  private byte[] ofTexts(int[] ranks) {
    List<byte[]> keys = new ArrayList<>(texts.size());
    Map<UTF8String, Integer> known = new HashMap<>();
    for (int place = 0; place < texts.size(); place++) {
      UTF8String text = texts.get(place);
      byte[] key = isDecimal ? decimalKey(text.getBytes()) : text.getBytes();
      keys.add(key);
      known.put(UTF8String.fromBytes(key), place);
    }
    keys.sort(Arrays::compareUnsigned);
    int size = keys.stream().mapToInt(key -> key.length + (isDecimal ? 0 : 4)).sum();
    ByteBuffer written = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    for (int rank = 0; rank < keys.size(); rank++) {
      byte[] key = keys.get(rank);
      if (!isDecimal) {
        written.putInt(key.length);
      }
      written.put(key);
      ranks[1 + known.get(UTF8String.fromBytes(key))] = rank;
    }
    return written.array();
  }

  private static byte[] decimalKey(byte[] unscaled) {
    byte[] key = new byte[DECIMAL_BYTES];
    byte[] shifted = new BigInteger(unscaled).add(BigInteger.ONE.shiftLeft(127)).toByteArray();
    int from = Math.max(0, shifted.length - DECIMAL_BYTES);
    int count = shifted.length - from;
    System.arraycopy(shifted, from, key, DECIMAL_BYTES - count, count);
    return key;
  }
}
