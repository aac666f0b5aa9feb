package lakewarden.indexes.format;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** The words or character sequences that every text of a pattern has. */
final class TextPieces {
  private static final int LONGEST_WORD = 256;
  private static final int CODE_POINT_BITS = 21;
  private static final int ASCII = 0x80;

  private TextPieces() {}

  /** The whole words inside the runs: a word that touches a wildcard may go on behind it. */
  static Collection<Value> words(LikePattern pattern) {
    Map<String, Value> found = new LinkedHashMap<>();
    for (LikePattern.Run run : pattern.runs()) {
      String text = run.text;
      int start = 0;
      for (int i = 0; i <= text.length(); i++) {
        if (i < text.length() && isWordCharacter(text.charAt(i))) {
          continue;
        }
        boolean whole = (start > 0 || run.begins) && (i < text.length() || run.ends);
        if (i > start && whole) {
          String word = text.substring(start, Math.min(i, start + LONGEST_WORD));
          found.computeIfAbsent(folded(word), TextPieces::word);
        }
        start = i + 1;
      }
    }
    return found.values();
  }

  static Value word(String folded) {
    return Value.ofBytes(folded.getBytes(StandardCharsets.UTF_8));
  }

  /** Each window of n code points of the runs, folded; `asciiAlone` leaves out the others. */
  static Collection<Value> windows(LikePattern pattern, int n, boolean asciiAlone) {
    Map<Long, Value> found = new LinkedHashMap<>();
    for (LikePattern.Run run : pattern.runs()) {
      int[] points = folded(run.text).codePoints().toArray();
      for (int i = 0; i + n <= points.length; i++) {
        int[] window = Arrays.copyOfRange(points, i, i + n);
        if (asciiAlone && Arrays.stream(window).anyMatch(c -> c >= ASCII)) {
          continue;
        }
        long number = 0;
        for (int c : window) {
          number = number << CODE_POINT_BITS | c;
        }
        found.computeIfAbsent(number, Value::ofPiece);
      }
    }
    return found.values();
  }

  /** The text with A-Z, and no other letter, in lower case. */
  static String folded(String text) {
    StringBuilder out = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      out.append(c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c);
    }
    return out.toString();
  }

  private static boolean isWordCharacter(char c) {
    return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z';
  }
}
