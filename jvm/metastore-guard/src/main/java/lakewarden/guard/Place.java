package lakewarden.guard;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A location in its one spelling, so that 'lies under' can be trusted.
 *
 * <p>The same rule as portal.lake.paths.LakePath, which is the reference; a test runs both over the
 * same odd locations.
 */
public final class Place {
  private static final Pattern SCHEME =
      Pattern.compile("([a-zA-Z][a-zA-Z0-9+.-]*):(.*)", Pattern.DOTALL);

  private final String root;
  private final String path;

  private Place(String root, String path) {
    this.root = root;
    this.path = path;
  }

  /** Reads a location; null where it is none, is relative, or holds dots or control characters. */
  public static Place of(String location, String defaultFs, Map<String, String> aliases) {
    if (location == null) {
      return null;
    }
    String text = location;
    Matcher match = SCHEME.matcher(location);
    if (!match.matches()) {
      if (!location.startsWith("/")) {
        return null;
      }
      match = SCHEME.matcher(defaultFs);
      if (!match.matches()) {
        return null;
      }
      text = "//" + authority(match.group(2)) + location;
    } else {
      text = match.group(2);
    }
    String scheme = match.group(1).toLowerCase(Locale.ROOT);
    String authority = scheme.equals("file") ? "" : authority(text).toLowerCase(Locale.ROOT);
    String plain = plain(text.startsWith("//") ? afterAuthority(text) : text);
    return plain == null
        ? null
        : new Place(scheme + "://" + aliases.getOrDefault(authority, authority), plain);
  }

  /** Whether this lies strictly below the other. */
  public boolean isBelow(Place other) {
    return other != null && !path.equals(other.path) && isAtOrUnder(other);
  }

  /** Whether this is the other or lies below it, segment by segment. */
  public boolean isAtOrUnder(Place other) {
    return root.equals(other.root)
        && (other.path.equals("/")
            || path.equals(other.path)
            || path.startsWith(other.path + "/"));
  }

  /** The place of this name below this one; null for a name that is no single segment. */
  public Place child(String name) {
    boolean odd = name == null || name.isEmpty() || name.contains("/");
    return odd ? null : new Place(root, plain(path + "/" + name));
  }

  /** Scheme and authority, as a default for paths without one. */
  String fileSystem() {
    return root;
  }

  /** The last segment. */
  public String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  @Override
  public String toString() {
    return root + path;
  }

  private static String authority(String rest) {
    if (!rest.startsWith("//")) {
      return "";
    }
    int slash = rest.indexOf('/', 2);
    return slash < 0 ? rest.substring(2) : rest.substring(2, slash);
  }

  private static String afterAuthority(String rest) {
    int slash = rest.indexOf('/', 2);
    return slash < 0 ? "" : rest.substring(slash);
  }

  private static String plain(String text) {
    String path = text.isEmpty() ? "/" : text;
    if (!path.startsWith("/")) {
      return null;
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
}
