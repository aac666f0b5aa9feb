package lakewarden.ready;

import org.apache.hadoop.conf.Configuration;

/**
 * Whether somebody asked to see partitions that are not ready: <code>includeUnCommit=true</code>.
 *
 * <p>The setting is looked up at every call, because a session may change it at any time: in the
 * session of Spark SQL, then in that of Hive, then in the configuration the client was made with.
 * The first that has it decides. Both sessions are asked by reflection: a reader has one of them.
 */
final class Lifted {
  static final String SETTING = "includeUnCommit";

  private final Configuration own;

  Lifted(Configuration own) {
    this.own = own;
  }

  boolean isLifted() {
    String word = ofSpark();
    if (word == null) {
      word = ofHive();
    }
    if (word == null) {
      word = own.get(SETTING);
    }
    return word != null && Readiness.isWord(word, "true");
  }

  private static String ofSpark() {
    try {
      Class<?> settings = loaded("org.apache.spark.sql.internal.SQLConf");
      Object session = settings.getMethod("get").invoke(null);
      return (String)
          settings
              .getMethod("getConfString", String.class, String.class)
              .invoke(session, SETTING, null);
    } catch (ReflectiveOperationException | LinkageError error) {
      return null; // No Spark here.
    }
  }

  private static String ofHive() {
    try {
      Class<?> sessions = loaded("org.apache.hadoop.hive.ql.session.SessionState");
      Object session = sessions.getMethod("get").invoke(null);
      if (session == null) {
        return null;
      }
      return ((Configuration) sessions.getMethod("getConf").invoke(session)).get(SETTING);
    } catch (ReflectiveOperationException | LinkageError error) {
      return null; // A client of the metastore without Hive's own sessions.
    }
  }

  private static Class<?> loaded(String name) throws ClassNotFoundException {
    return Class.forName(name, true, Lifted.class.getClassLoader());
  }
}
