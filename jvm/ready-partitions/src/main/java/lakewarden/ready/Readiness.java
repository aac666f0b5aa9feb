package lakewarden.ready;

import java.util.Locale;
import java.util.Map;

/**
 * The one meaning of a partition's flag, as portal/lake/readiness.py has it: an absent flag means
 * ready; only the word false (any case, with or without spaces around) means not ready yet.
 */
public final class Readiness {
  /** The partition parameter. */
  public static final String FLAG = "commit";

  private Readiness() {}

  /** Whether a partition with these parameters may be read by offline readers. */
  public static boolean isReady(Map<String, String> parameters) {
    String word = parameters == null ? null : parameters.get(FLAG);
    return word == null || !isWord(word, "false");
  }

  /** Whether a text is a word, whatever its case and the spaces around it. */
  static boolean isWord(String text, String word) {
    int start = 0;
    int end = text.length();
    while (start < end && isSpace(text.charAt(start))) {
      start++;
    }
    while (start < end && isSpace(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(start, end).toLowerCase(Locale.ROOT).equals(word);
  }

  /** What Python's strip() takes for a space; Java's own trim() knows fewer. */
  private static boolean isSpace(char letter) {
    return Character.isWhitespace(letter) || Character.isSpaceChar(letter) || letter == '\u0085';
  }
}
