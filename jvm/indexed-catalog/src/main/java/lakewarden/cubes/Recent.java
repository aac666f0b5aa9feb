package lakewarden.cubes;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The last few things that were made, by what they were made of. */
final class Recent<K, V> {
  private final Map<K, V> held;

  Recent(int most) {
    held =
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > most;
          }
        };
  }

  V get(K key, Function<K, V> make) {
    synchronized (held) {
      V known = held.get(key);
      if (known != null) {
        return known;
      }
    }
    // Made outside the lock: two that ask at one moment make it twice.
    V made = make.apply(key);
    synchronized (held) {
      held.put(key, made);
    }
    return made;
  }
}
