package lakewarden.guard;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The rules, free of Hive: what is wrong with what one user wants, in words that say who may do it.
 *
 * <p>Lifecycle admins may do everything but write a value that cannot be read.
 */
final class Rules {
  private final Settings settings;
  private final String user;
  private final List<Breach> breaches = new ArrayList<>();

  Rules(Settings settings, String user) {
    this.settings = settings;
    this.user = user;
  }

  boolean isAdmin() {
    return settings.admins.contains(user);
  }

  List<Breach> breaches() {
    return breaches;
  }

  /** Judges the values that a new table or database brings along. */
  void given(String name, Policy given, Policy inherited) {
    value(name, given);
    if (isAdmin()) {
      return;
    }
    Integer level = given.level();
    if (level != null && level == 0 && !level.equals(inherited.level())) {
      add("policy.keep", "LEVEL 0 (keep for ever) may be given to " + name + " only by " + admins());
    }
    Integer ttl = given.ttl();
    if (ttl != null && ttl > settings.maxTtl && !ttl.equals(inherited.ttl())) {
      add(
          "policy.ttl",
          "A TTL above " + settings.maxTtl + " days may be given to " + name + " only by " + admins());
    }
  }

  /** Judges a change of values, whichever way it came; equal ones are no change. */
  void changed(String name, Policy before, Policy after) {
    if (before.own().equals(after.own())) {
      return;
    }
    value(name, after);
    if (!isAdmin()) {
      add(
          "policy.rights",
          "LEVEL and TTL of " + name + " " + words(before) + " may be changed only by " + admins());
    }
  }

  /** Judges whether the user may create databases at all. */
  void mayCreateDatabase(String name) {
    if (!isAdmin() && !holds(settings.databaseMakers)) {
      add("create.rights", "The database " + name + " may be created only by " + admins());
    }
  }

  /** Judges whether the user may create tables in a database of `databaseOwner`. */
  void mayCreateTable(String name, String databaseOwner) {
    if (!isAdmin() && !user.equals(databaseOwner) && !holds(settings.tableMakers)) {
      add(
          "create.rights",
          "The table " + name + " may be created only by its database's owner (" + databaseOwner
              + "), or by " + admins());
    }
  }

  /** Judges where a table is to lie; a null place is a location that cannot be read as a path. */
  void tablePlace(String name, Place place, Place database, String owner) {
    if (place == null || !place.isBelow(database)) {
      path("TBL_NOT_SUB_DB", name, place, "does not lie under its database's " + database);
    }
    ownerPlace(name, place, owner);
  }

  /** Judges where a database is to lie; `other` names a database at, above or under it, or is null. */
  void databasePlace(String name, Place place, String owner, String other) {
    if (place == null) {
      path("DB_PATH_FAIL", name, null, "cannot be read as a path");
      return;
    }
    if (other != null) {
      path("HAS_OTHER_DB", name, place, "overlaps with that of the database " + other);
    }
    ownerPlace(name, place, owner);
  }

  /** Judges where a partition is to lie. */
  void partitionPlace(String name, Place place, Place table) {
    if (place == null || !place.isBelow(table)) {
      path("PART_PATH_NOT_IN_TBL", name, place, "does not lie under its table's " + table);
    }
  }

  private void ownerPlace(String name, Place place, String owner) {
    if (settings.ownerPlace.isEmpty() || place == null) {
      return;
    }
    boolean usable = owner != null && !owner.isEmpty() && !owner.contains("/");
    boolean asked = settings.ownerPlace.contains(Settings.OWNER);
    String text = settings.ownerPlace.replace(Settings.OWNER, usable ? owner : Settings.OWNER);
    Place home = Place.of(text, place.fileSystem(), settings.aliases);
    if ((asked && !usable) || !place.isBelow(home)) {
      path("OWNER_PATH_FAIL", name, place, "does not lie under its owner's " + text);
    }
  }

  private void value(String name, Policy policy) {
    if (!policy.problem().isEmpty()) {
      add("policy.value", "For " + name + ": " + policy.problem());
    }
  }

  private void add(String rule, String text) {
    breaches.add(Breach.of(rule, text));
  }

  private void path(String rule, String name, Place place, String what) {
    String where = place == null ? "" : " (" + place + ")";
    String text = "The location of " + name + where + " " + what + " [" + rule + "]. Choose another, "
        + "or have it placed there by " + admins();
    breaches.add(Breach.ofPath(rule, text));
  }

  private String admins() {
    return "a lifecycle admin: " + settings.adminsInWords() + ". You are " + user + ".";
  }

  private boolean holds(Set<String> makers) {
    return makers.contains(Settings.ANYONE) || makers.contains(user);
  }

  private static String words(Policy policy) {
    return policy.own().isEmpty() ? "(none yet)" : policy.own().toString();
  }
}
