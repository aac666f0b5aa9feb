package lakewarden.spark.indexes;


/** Builds a Bloom filter of the words or n-grams of texts. */
final class PieceFilter implements Builder {
  /** Of an n-gram; 0: words. */
  private final int n;

  private final KeyFilter filter;
  private final Text text = new Text();

  /** The n-grams of ASCII letters that were met, by their codes of 7 bits a letter. */
  private final long[] met;

  private boolean isText = true;

  PieceFilter(int n, KeyFilter filter) {
    this.n = n;
    this.filter = filter;
    this.met = new long[n == 0 ? 0 : Math.max(1, 1 << (Text.BITS * n - 6))];
  }

  @Override
  public void add(Cell cell, int row) {
    if (cell.isNull || !isText) {
      return;
    }
    isText = text.read(cell.bytes);
    if (!isText) {
      return;
    }
    if (n == 0) {
      addWords();
    } else if (text.isAscii) {
      addAscii();
    } else {
      int count = text.ngrams(n);
      for (int at = 0; at < count; at++) {
        filter.addKey(Hashing.of(text.ngram(at, n)));
      }
    }
  }

  private void addWords() {
    for (int at = 0; at < text.length; at++) {
      int end = text.wordEnd(at);
      if (end > at) {
        int length = Math.min(end - at, Text.LONGEST_WORD);
        filter.addKey(Hashing.of(text.bytes, at, length));
        at = end;
      }
    }
  }

  private void addAscii() {
    byte[] bytes = text.bytes;
    int mask = (1 << Text.BITS * n) - 1;
    int code = 0;
    for (int at = 0; at < text.length; at++) {
      code = (code << Text.BITS | bytes[at]) & mask;
      if (at >= n - 1) {
        met[code >> 6] |= 1L << code;
      }
    }
  }

  @Override
  public Body finish() {
    if (!isText) {
      return Body.refused("not text");
    }
    for (int word = 0; word < met.length; word++) {
      for (long bits = met[word]; bits != 0; bits &= bits - 1) {
        filter.addKey(Hashing.of(number(word << 6 | Long.numberOfTrailingZeros(bits))));
      }
    }
    return filter.finish().ofPieces(n == 0 ? Body.WORD_BLOOM : Body.NGRAM_BLOOM, text.isOdd);
  }

  private long number(int code) {
    long number = 0;
    for (int at = n - 1; at >= 0; at--) {
      number = number << 21 | (code >> Text.BITS * at & (1 << Text.BITS) - 1);
    }
    return number;
  }
}
