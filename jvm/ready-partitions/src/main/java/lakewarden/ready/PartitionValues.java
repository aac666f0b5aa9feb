package lakewarden.ready;

import java.util.ArrayList;
import java.util.List;

/**
 * The values in a partition's name, as the metastore keeps them. Hive's own reader of names has
 * another form in each release; the names have one: key=value/key=value with %XX for odd letters.
 */
final class PartitionValues {
  private PartitionValues() {}

  static List<String> of(String name) {
    List<String> values = new ArrayList<>();
    for (String part : name.split("/", -1)) {
      values.add(plain(part.substring(part.indexOf('=') + 1)));
    }
    return values;
  }

  private static String plain(String text) {
    StringBuilder found = new StringBuilder(text.length());
    for (int at = 0; at < text.length(); at++) {
      int code = text.charAt(at) == '%' && at + 2 < text.length() ? code(text, at + 1) : -1;
      if (code < 0) {
        found.append(text.charAt(at));
      } else {
        found.append((char) code);
        at += 2;
      }
    }
    return found.toString();
  }

  private static int code(String text, int at) {
    int high = Character.digit(text.charAt(at), 16);
    int low = Character.digit(text.charAt(at + 1), 16);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
  }
}
