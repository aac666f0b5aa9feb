package lakewarden.spark;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.api.java.UDF1;

/**
 * Gives the one spelling of a location, or null where it cannot be read as a path.
 *
 * <p>The same rule as portal.lake.paths.LakePath, which is the reference; a test runs both over the
 * same odd locations.
 */
public final class CanonicalPath implements UDF1<String, String> {
  private static final long serialVersionUID = 1L;
  private static final Pattern SCHEME =
      Pattern.compile("([a-zA-Z][a-zA-Z0-9+.-]*):(.*)", Pattern.DOTALL);

  private final String defaultScheme;
  private final String defaultAuthority;
  private final HashMap<String, String> aliases;

  /** Takes the lake's default file system and its aliases of authorities. */
  public CanonicalPath(String defaultFs, Map<String, String> aliases) {
    Matcher base = SCHEME.matcher(defaultFs);
    if (!base.matches()) {
      throw new IllegalArgumentException(defaultFs + " names no file system");
    }
    this.defaultScheme = base.group(1).toLowerCase(Locale.ROOT);
    String rest = base.group(2).length() >= 2 ? base.group(2).substring(2) : "";
    this.defaultAuthority = rest.split("/", 2)[0];
    this.aliases = new HashMap<>(aliases);
  }

  @Override
  public String call(String location) {
    if (location == null) {
      return null;
    }
    String scheme = defaultScheme;
    String authority = "";
    String path = location;
    Matcher match = SCHEME.matcher(location);
    if (match.matches()) {
      scheme = match.group(1).toLowerCase(Locale.ROOT);
      path = match.group(2);
      if (path.startsWith("//")) {
        int slash = path.indexOf('/', 2);
        authority = slash < 0 ? path.substring(2) : path.substring(2, slash);
        path = slash < 0 ? "" : path.substring(slash);
      }
      path = path.isEmpty() ? "/" : path;
    } else {
      authority = defaultAuthority;
    }
    if (scheme.equals("file")) {
      authority = "";
    }
    authority = authority.toLowerCase(Locale.ROOT);
    String plain = plainPath(path);
    return plain == null
        ? null
        : scheme + "://" + aliases.getOrDefault(authority, authority) + plain;
  }

  /** Drops doubled and trailing slashes; null for a relative path, dots or a control character. */
  private static String plainPath(String path) {
    if (!path.startsWith("/")) {
      return null;
    }
    if (isPlain(path)) {
      return path;
    }
    StringBuilder plain = new StringBuilder(path.length());
    for (String segment : path.split("/")) {
      if (segment.equals(".") || segment.equals("..")) {
        return null;
      }
      if (!segment.isEmpty()) {
        plain.append('/').append(segment);
      }
    }
    for (int i = 0; i < plain.length(); i++) {
      if (plain.charAt(i) < 0x20 || plain.charAt(i) == 0x7f) {
        return null;
      }
    }
    return plain.length() == 0 ? "/" : plain.toString();
  }

  /** Whether nothing needs a closer look: nearly every location, so it is asked first. */
  private static boolean isPlain(String path) {
    int last = path.length() - 1;
    for (int i = 0; i <= last; i++) {
      char letter = path.charAt(i);
      if (letter < 0x20 || letter == 0x7f) {
        return false;
      }
      if (letter == '/' && (i == last || path.charAt(i + 1) == '/' || path.charAt(i + 1) == '.')) {
        return false;
      }
    }
    return true;
  }
}
