package lakewarden.guard;

import java.io.IOException;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RawStore;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.api.NotificationEvent;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.apache.thrift.protocol.TJSONProtocol;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where notes go: into the metastore's own notification log, from which the portal reads anyway.
 *
 * <p>They name no database and no table in the log's columns, so who follows a database by its name
 * (replication, other engines) never sees them.
 */
final class Journal {
  private static final Logger LOG = LoggerFactory.getLogger(Journal.class);
  static final String POLICY = "LAKEWARDEN_POLICY";
  static final String DROP = "LAKEWARDEN_DROP";
  private static final int MOST_CHARACTERS = 4_000_000;

  private Journal() {}

  /**
   * Writes a note; within the change's own transaction where there is one.
   *
   * @throws MetaException the database refused it and took the change back with it
   */
  static void write(IHMSHandler handler, String type, Note note) throws MetaException {
    NotificationEvent event =
        new NotificationEvent(0L, (int) (System.currentTimeMillis() / 1000), type, note.json());
    event.setMessageFormat("json-0.2");
    RawStore store = handler.getMS();
    boolean within = store.isActiveTransaction();
    store.addNotificationEvent(event);
    if (within && !store.isActiveTransaction()) {
      // The store swallows its errors: without this the client would be told that all went well.
      throw new MetaException("Lakewarden: the note of this change was refused, so it was taken back.");
    }
  }

  /** Writes a note if that is possible: a refusal stands without it. */
  static void tryWrite(IHMSHandler handler, String type, Note note) {
    try {
      write(handler, type, note);
    } catch (Throwable error) {
      LOG.error("The lifecycle guard could not write a note of {}", type, error);
    }
  }

  /** Who asks, as far as the metastore knows: without Kerberos it believes what the client says. */
  static String user() {
    try {
      return UserGroupInformation.getCurrentUser().getShortUserName();
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  /** A Thrift object as Hive writes it into JSON; null for one that is too large for the log. */
  static String object(TBase<?, ?> struct) throws TException {
    String text = new TSerializer(new TJSONProtocol.Factory()).toString(struct, "UTF-8");
    return text.length() > MOST_CHARACTERS ? null : text;
  }
}
