package lakewarden.guard;

import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * LEVEL and TTL as the parameters of one table or database say them.
 *
 * <p>The portal reads them by the same rules (lifecycle/core/domain/enrollment.py is the reference; a
 * test runs both over the same odd values).
 */
public final class Policy {
  public static final int MAX_TTL = 36_500;
  private static final String LEVEL = "LEVEL";
  private static final String TTL = "TTL";

  private final Map<String, String> own;
  private final Integer level;
  private final Integer ttl;
  private final String problem;

  private Policy(Map<String, String> own) {
    this.own = Collections.unmodifiableMap(own);
    StringBuilder problems = new StringBuilder();
    for (String key : own.keySet()) {
      if (!key.equals(upper(key)) && !key.equals(key.toLowerCase(Locale.ROOT))) {
        problems.append(key).append(" is not read; write ").append(upper(key)).append(". ");
      }
    }
    this.level = number(LEVEL, 0, 1, problems);
    this.ttl = number(TTL, 1, MAX_TTL, problems);
    this.problem = problems.toString().trim();
  }

  /** Reads the keys that spell LEVEL or TTL, in whatever case; `parameters` may be null. */
  public static Policy of(Map<String, String> parameters) {
    Map<String, String> own = new TreeMap<>();
    if (parameters != null) {
      for (Map.Entry<String, String> entry : parameters.entrySet()) {
        String key = entry.getKey();
        if (key != null && (key.equalsIgnoreCase(LEVEL) || key.equalsIgnoreCase(TTL))) {
          own.put(key, String.valueOf(entry.getValue()));
        }
      }
    }
    return new Policy(own);
  }

  /** A policy with both values. */
  public static Policy of(int level, int ttl) {
    Map<String, String> own = new TreeMap<>();
    own.put(LEVEL, Integer.toString(level));
    own.put(TTL, Integer.toString(ttl));
    return new Policy(own);
  }

  /** The level, or null where there is none that can be used. */
  public Integer level() {
    return level;
  }

  /** The days, or null where there are none that can be used. */
  public Integer ttl() {
    return ttl;
  }

  /** What is wrong with the values, as sentences; empty if nothing is. */
  public String problem() {
    return problem;
  }

  /** The keys and values as they stand in the parameters. */
  public Map<String, String> own() {
    return own;
  }

  /** This policy's values, and the other's where this one has none that can be used. */
  public Policy orElse(Policy other) {
    return of(level != null ? level : other.level, ttl != null ? ttl : other.ttl);
  }

  /** A copy of the parameters with both values: their own, else those of `inherited`. */
  public Map<String, String> completed(Map<String, String> parameters, Policy inherited) {
    Map<String, String> all = new HashMap<>();
    if (parameters != null) {
      all.putAll(parameters);
    }
    if (level == null) {
      all.put(LEVEL, Integer.toString(inherited.level));
    }
    if (ttl == null) {
      all.put(TTL, Integer.toString(inherited.ttl));
    }
    return all;
  }

  private Integer number(String key, int least, int most, StringBuilder problems) {
    Set<String> spellings = new TreeSet<>();
    spellings.add(key);
    spellings.add(key.toLowerCase(Locale.ROOT));
    spellings.retainAll(own.keySet());
    if (spellings.size() > 1) {
      problems.append("Both ").append(String.join(" and ", spellings)).append(" are set. ");
      return null;
    }
    if (spellings.isEmpty()) {
      return null;
    }
    String text = withoutSpaces(own.get(spellings.iterator().next()));
    // ASCII digits only, few enough for an int; the portal and Spark read the same.
    if (text.matches("[0-9]{1,5}") && (least > 0 || text.length() == 1)) {
      int value = Integer.parseInt(text);
      if (least <= value && value <= most) {
        return value;
      }
    }
    String shown = text.substring(0, Math.min(text.length(), 40));
    String allowed = least == 0 ? "0 or 1" : "a number of days from 1 to " + most;
    problems.append(key).append(" is '").append(shown).append("', not ").append(allowed).append(". ");
    return null;
  }

  private static String upper(String key) {
    return key.toUpperCase(Locale.ROOT);
  }

  private static String withoutSpaces(String text) {
    int start = 0;
    int end = text.length();
    while (start < end && text.charAt(start) == ' ') {
      start++;
    }
    while (end > start && text.charAt(end - 1) == ' ') {
      end--;
    }
    return text.substring(start, end);
  }
}
