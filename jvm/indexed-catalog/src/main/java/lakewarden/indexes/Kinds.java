package lakewarden.indexes;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lakewarden.indexes.format.Leaf;

/** Chooses, of the indexes that a column has, those worth reading for a condition on it. */
final class Kinds {
  private static final String BITMAP = "bitmap";
  private static final String BLOOM = "bloom";
  private static final String RANGES = "bloomrf";
  private static final String[] WORDS = {"token_bitmap", "token_bloom"};
  private static final String[] SEQUENCES = {"ngram_bitmap", "ngram_bloom"};

  /** So many values are as good as never all absent from a filter: each may be a false positive. */
  private static final int MOST_VALUES_OF_A_FILTER = 4096;

  private Kinds() {}

  /** Whether an index of that kind can answer what a join asks: is the column one of these? */
  static boolean isOfValues(String kind) {
    return kind.equals(BITMAP) || kind.equals(BLOOM) || kind.equals(RANGES);
  }

  /** Of each family the one that says most. */
  static List<Manifest.Blob> chosen(Leaf leaf, Map<String, Manifest.Blob> has) {
    List<Manifest.Blob> chosen = new ArrayList<>(2);
    switch (leaf.kind) {
      case EQUALS:
        if (leaf.values.size() > MOST_VALUES_OF_A_FILTER) {
          take(has, chosen, BITMAP);
        } else {
          take(has, chosen, BITMAP, BLOOM, RANGES);
        }
        if (chosen.isEmpty() && leaf.pattern != null) {
          text(has, chosen);
        }
        break;
      case IS_NULL:
        take(has, chosen, BITMAP);
        break;
      case LIKE:
        text(has, chosen);
        if (!leaf.lowered && !leaf.pattern.prefix().isEmpty()) {
          take(has, chosen, BITMAP, RANGES);
        }
        break;
      default:
        take(has, chosen, BITMAP, RANGES);
    }
    return chosen;
  }

  private static void text(Map<String, Manifest.Blob> has, List<Manifest.Blob> chosen) {
    take(has, chosen, SEQUENCES);
    take(has, chosen, WORDS);
  }

  private static void take(
      Map<String, Manifest.Blob> has, List<Manifest.Blob> chosen, String... best) {
    for (String kind : best) {
      Manifest.Blob blob = has.get(kind);
      if (blob != null) {
        chosen.add(blob);
        return;
      }
    }
  }
}
