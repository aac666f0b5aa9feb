package lakewarden.spark.indexes;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.roaringbitmap.RoaringBitmap;
import org.roaringbitmap.RoaringBitmapWriter;

/** Builds a bitmap of the rows that hold each word or n-gram of texts. */
final class PieceRows implements Builder {
  private static final int MOST_PIECES = 1 << 20;
  private static final int MOST_PIECE_BYTES = 32 << 20;
  private static final int MOST_PAIRS = 1 << 26;
  private static final int FIRST = 1 << 10;

  /** Of an n-gram; 0: words. */
  private final int n;

  private final Text text = new Text();
  private final RoaringBitmapWriter<RoaringBitmap> nulls = RoaringBitmapWriter.writer().get();

  /** The distinct n-grams; of words their hashes, each with the word of its place. */
  private final LongSet numbers = new LongSet();

  private final List<byte[]> words = new ArrayList<>();

  /** One more than the place of each n-gram of ASCII letters, by its code. */
  private final int[] places;

  /** The first and the last row of each piece; most words of a log stand in one row alone. */
  private int[] first = new int[FIRST];

  private int[] last = new int[FIRST];

  /** All rows of a piece that stands in more than one. */
  private final List<RoaringBitmapWriter<RoaringBitmap>> rows = new ArrayList<>();

  private long bytes;
  private int pairs;
  private String refused = "";

  PieceRows(int n) {
    this.n = n;
    places = new int[n == 0 ? 0 : 1 << Text.BITS * n];
  }

  @Override
  public void add(Cell cell, int row) {
    if (!refused.isEmpty()) {
      return;
    }
    if (cell.isNull) {
      nulls.add(row);
      return;
    }
    if (!text.read(cell.bytes)) {
      refused = "not text";
    } else if (n == 0) {
      addWords(row);
    } else if (text.isAscii) {
      addAscii(row);
    } else {
      int count = text.ngrams(n);
      for (int at = 0; at < count; at++) {
        add(numbers.add(text.ngram(at, n)), row, Long.BYTES);
      }
    }
  }

  private void addWords(int row) {
    for (int at = 0; at < text.length; at++) {
      int end = text.wordEnd(at);
      if (end > at) {
        int length = Math.min(end - at, Text.LONGEST_WORD);
        add(word(at, length), row, length);
        at = end;
      }
    }
  }

  /** The place of a word; of two of one hash the second has the number after it, and so on. */
  private int word(int start, int length) {
    for (long hash = Hashing.of(text.bytes, start, length); ; hash++) {
      int place = numbers.add(hash);
      if (place == words.size()) {
        words.add(Arrays.copyOfRange(text.bytes, start, start + length));
        return place;
      }
      byte[] known = words.get(place);
      if (Arrays.equals(known, 0, known.length, text.bytes, start, start + length)) {
        return place;
      }
    }
  }

  private void addAscii(int row) {
    int mask = (1 << Text.BITS * n) - 1;
    int code = 0;
    for (int at = 0; at < text.length; at++) {
      code = (code << Text.BITS | text.bytes[at]) & mask;
      if (at >= n - 1) {
        if (places[code] == 0) {
          places[code] = 1 + numbers.add(text.ngram(at - n + 1, n));
        }
        add(places[code] - 1, row, Long.BYTES);
      }
    }
  }

  private void add(int place, int row, int length) {
    if (place == rows.size()) {
      if (place == first.length) {
        first = Arrays.copyOf(first, 2 * place);
        last = Arrays.copyOf(last, 2 * place);
      }
      rows.add(null);
      first[place] = row;
      bytes += length;
    } else if (last[place] == row) {
      return;
    } else {
      RoaringBitmapWriter<RoaringBitmap> known = rows.get(place);
      if (known == null) {
        known = RoaringBitmapWriter.writer().get();
        known.add(first[place]);
        rows.set(place, known);
      }
      known.add(row);
    }
    last[place] = row;
    pairs++;
    limit();
  }

  private void limit() {
    if (rows.size() > MOST_PIECES) {
      refused = "too many pieces";
    } else if (bytes > MOST_PIECE_BYTES) {
      refused = "too many bytes of pieces";
    } else if (pairs > MOST_PAIRS) {
      refused = "too many pairs";
    }
  }

  @Override
  public Body finish() {
    if (!refused.isEmpty()) {
      return Body.refused(refused);
    }
    int count = rows.size();
    int[] inOrder = n == 0 ? wordsInOrder() : numbersInOrder();
    List<byte[]> parts = new ArrayList<>(count);
    for (int place : inOrder) {
      RoaringBitmapWriter<RoaringBitmap> known = rows.set(place, null);
      RoaringBitmap held = known == null ? RoaringBitmap.bitmapOf(first[place]) : known.get();
      parts.add(BitmapBody.packed(held));
    }
    byte[] body = BitmapBody.byKey(dictionary(inOrder), nulls, parts);
    int form = n == 0 ? Body.WORD_BITMAP : Body.NGRAM_BITMAP;
    return Body.of(form, body, 0, count).ofPieces(form, text.isOdd);
  }

  private int[] wordsInOrder() {
    List<Integer> order = new ArrayList<>(words.size());
    for (int place = 0; place < words.size(); place++) {
      order.add(place);
    }
    order.sort((one, other) -> Arrays.compareUnsigned(words.get(one), words.get(other)));
    return order.stream().mapToInt(Integer::intValue).toArray();
  }

  private int[] numbersInOrder() {
    long[] sorted = numbers.all();
    Arrays.sort(sorted);
    return Arrays.stream(sorted).mapToInt(numbers::add).toArray();
  }

  private byte[] dictionary(int[] inOrder) {
    long[] all = n == 0 ? null : numbers.all();
    int size = all == null ? (int) bytes + Integer.BYTES * inOrder.length : Long.BYTES * all.length;
    ByteBuffer written = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    for (int place : inOrder) {
      if (all == null) {
        written.putInt(words.get(place).length).put(words.get(place));
      } else {
        written.putLong(all[place]);
      }
    }
    return written.array();
  }
}
