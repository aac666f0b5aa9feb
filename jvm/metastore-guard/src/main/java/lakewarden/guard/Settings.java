package lakewarden.guard;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** One reading of the guard's properties; never changed afterwards. */
public final class Settings {
  /** What the guard does about a breach. */
  public enum Mode {
    OFF,
    AUDIT,
    ENFORCE
  }

  /** What it does about a location that breaks a path rule. */
  public enum Paths {
    OFF,
    WARN,
    DENY
  }

  public static final String PREFIX = "hive.lifecycle.";
  public static final String FILE = PREFIX + "guard.file";
  static final String ANYONE = "*";
  static final String OWNER = "{owner}";

  final Mode mode;
  final Paths paths;
  final Set<String> admins;
  final Policy defaults;
  final int maxTtl;
  final Set<String> databaseMakers;
  final Set<String> tableMakers;
  final String ownerPlace;
  final Map<String, String> aliases;

  /**
   * Reads the properties; `named` gives a property's text or null.
   *
   * @throws IllegalArgumentException a value that cannot be meant, with the property's name
   */
  public Settings(UnaryOperator<String> named) {
    mode = oneOf(Mode.class, named, "guard.mode", Mode.AUDIT);
    paths = oneOf(Paths.class, named, "guard.paths", Paths.OFF);
    admins = names(named, "admins", "admin,hadoop");
    Map<String, String> values = new HashMap<>();
    values.put("LEVEL", text(named, "default.level", "1"));
    values.put("TTL", text(named, "default.ttl", "60"));
    defaults = Policy.of(values);
    if (!defaults.problem().isEmpty()) {
      throw new IllegalArgumentException(
          PREFIX + "default.level and " + PREFIX + "default.ttl: " + defaults.problem());
    }
    Integer most = Policy.of(Collections.singletonMap("TTL", text(named, "guard.max.ttl", "36500"))).ttl();
    if (most == null) {
      throw new IllegalArgumentException(PREFIX + "guard.max.ttl is no number of days.");
    }
    maxTtl = most;
    databaseMakers = names(named, "guard.create.databases", ANYONE);
    tableMakers = names(named, "guard.create.tables", ANYONE);
    ownerPlace = text(named, "guard.path.owner", "/user/{owner}");
    aliases = new HashMap<>();
    for (String pair : names(named, "guard.path.aliases", "")) {
      int equals = pair.indexOf('=');
      if (equals < 0) {
        throw new IllegalArgumentException(
            PREFIX + "guard.path.aliases: '" + pair + "' is not host:port=name.");
      }
      aliases.put(pair.substring(0, equals).toLowerCase(Locale.ROOT), pair.substring(equals + 1));
    }
  }

  /** The admins for a sentence; a long list is cut. */
  String adminsInWords() {
    if (admins.isEmpty()) {
      return "nobody is one yet (" + PREFIX + "admins)";
    }
    StringBuilder words = new StringBuilder();
    int shown = 0;
    for (String admin : admins) {
      if (++shown > 5) {
        return words + " and " + (admins.size() - 5) + " more";
      }
      words.append(shown == 1 ? "" : ", ").append(admin);
    }
    return words.toString();
  }

  private static String text(UnaryOperator<String> named, String key, String otherwise) {
    String value = named.apply(PREFIX + key);
    return value == null ? otherwise : value.trim();
  }

  private static Set<String> names(UnaryOperator<String> named, String key, String otherwise) {
    Set<String> found = new LinkedHashSet<>();
    for (String name : text(named, key, otherwise).split(",")) {
      if (!name.trim().isEmpty()) {
        found.add(name.trim());
      }
    }
    return Collections.unmodifiableSet(found);
  }

  private static <E extends Enum<E>> E oneOf(
      Class<E> choices, UnaryOperator<String> named, String key, E otherwise) {
    String value = text(named, key, "");
    for (E choice : choices.getEnumConstants()) {
      if (choice.name().equalsIgnoreCase(value)) {
        return choice;
      }
    }
    if (!value.isEmpty()) {
      throw new IllegalArgumentException(PREFIX + key + " is '" + value + "'.");
    }
    return otherwise;
  }
}
