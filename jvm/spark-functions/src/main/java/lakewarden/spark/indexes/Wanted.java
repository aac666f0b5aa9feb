package lakewarden.spark.indexes;

import java.io.Serializable;

/** One index that is to be built, as the driver's program says it. */
final class Wanted implements Serializable {
  final int column;
  private final String kind;
  private final String choice;
  private final double bitsAKey;
  private final int mostKeys;
  private final int n;

  /**
   * Read `column kind choice bits keys n`: the kind is that of a filter, bitmap, or none; choice is
   * `named`, `chosen` for the whole table, or `auto`, where the kind is that of the filter; n is the
   * length of an n-gram, 0 of words.
   */
  Wanted(String said) {
    String[] parts = said.split(" ");
    column = Integer.parseInt(parts[0]);
    kind = parts[1];
    choice = parts[2];
    bitsAKey = Double.parseDouble(parts[3]);
    mostKeys = Integer.parseInt(parts[4]);
    n = Integer.parseInt(parts[5]);
  }

  Builder builder() {
    switch (choice) {
      case "auto":
        return new AutoBuilder(kind.equals("none") ? null : plain());
      case "chosen":
        return new ChosenFilter(plain());
      default:
        return plain();
    }
  }

  private Builder plain() {
    switch (kind) {
      case "bloom":
        return new KeyFilter(false, bitsAKey, mostKeys);
      case "bloomrf":
        return new KeyFilter(true, bitsAKey, mostKeys);
      case "token_bloom":
      case "ngram_bloom":
        return new PieceFilter(n, new KeyFilter(false, bitsAKey, mostKeys));
      case "token_bitmap":
      case "ngram_bitmap":
        return new PieceRows(n);
      case "bitmap":
        return new BitmapBuilder();
      default:
        throw new IllegalArgumentException("an unknown kind of index: " + kind);
    }
  }
}
