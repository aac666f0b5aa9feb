package lakewarden.guard;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/**
 * What the guard learnt before a change, kept until the recorder hears of that very change.
 *
 * <p>Both are called on the metastore's own thread with the same object, so the object's identity
 * tells whether a note belongs to the change; one left over from a failed call fits nothing.
 */
final class Pending {
  private static final ThreadLocal<Pending> NOW = new ThreadLocal<>();
  private static final ThreadLocal<Map<String, Integer>> COUNTED =
      ThreadLocal.withInitial(Collections::emptyMap);

  private final Object subject;
  private final Note note;

  private Pending(Object subject, Note note) {
    this.subject = subject;
    this.note = note;
  }

  static void put(Object subject, Note note) {
    NOW.set(new Pending(subject, note));
  }

  /** Gives what was kept for this object, once; null if nothing was. */
  static Note take(Object subject) {
    Pending found = NOW.get();
    NOW.remove();
    return found != null && found.subject == subject ? found.note : null;
  }

  /** Keeps the partition counts of a database's tables while it is dropped with all of them. */
  static void countedBeforeDrop(Map<String, Integer> counts) {
    COUNTED.set(new HashMap<>(counts));
  }

  /** Gives a table's count from before its database's drop began, or null. */
  static Integer counted(String table) {
    return COUNTED.get().get(table);
  }

  static void forgetCounts() {
    COUNTED.remove();
  }
}
