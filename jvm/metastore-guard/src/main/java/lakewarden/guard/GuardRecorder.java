package lakewarden.guard;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.TransactionalMetaStoreEventListener;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.events.AddPartitionEvent;
import org.apache.hadoop.hive.metastore.events.AlterDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.AlterTableEvent;
import org.apache.hadoop.hive.metastore.events.CreateDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.CreateTableEvent;
import org.apache.hadoop.hive.metastore.events.DropDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.DropTableEvent;
import org.apache.thrift.TBase;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what the portal is to know of a change that happens: who changed LEVEL or TTL, what enforce
 * would have refused, and the object that a DROP takes away. Set first in
 * `metastore.transactional.event.listeners`, before the notification listener: its note then stands
 * right before the change's own event, in the same transaction.
 */
public class GuardRecorder extends TransactionalMetaStoreEventListener {
  private static final Logger LOG = LoggerFactory.getLogger(GuardRecorder.class);

  private final LiveSettings live;

  public GuardRecorder(Configuration conf) {
    super(conf);
    this.live = new LiveSettings(conf);
  }

  @Override
  public void onCreateDatabase(CreateDatabaseEvent event) throws MetaException {
    pending(event.getIHMSHandler(), event.getDatabase());
  }

  @Override
  public void onAlterDatabase(AlterDatabaseEvent event) throws MetaException {
    pending(event.getIHMSHandler(), event.getNewDatabase());
  }

  @Override
  public void onCreateTable(CreateTableEvent event) throws MetaException {
    pending(event.getIHMSHandler(), event.getTable());
  }

  @Override
  public void onAlterTable(AlterTableEvent event) throws MetaException {
    pending(event.getIHMSHandler(), event.getNewTable());
  }

  @Override
  public void onAddPartition(AddPartitionEvent event) throws MetaException {
    pending(event.getIHMSHandler(), event.getTable());
  }

  @Override
  public void onDropTable(DropTableEvent event) throws MetaException {
    Note counted = Pending.take(event.getTable());
    Note note = counted == null ? new Note() : counted;
    String name = event.getTable().getDbName() + "." + event.getTable().getTableName();
    note.with("operation", "DROP_TABLE")
        .with("with_database", Pending.counted(name) != null)
        .with("db", event.getTable().getDbName())
        .with("table", event.getTable().getTableName())
        .with("owner", event.getTable().getOwner())
        .with("delete_data", event.getDeleteData());
    dropped(event.getIHMSHandler(), event.getTable(), note);
  }

  @Override
  public void onDropDatabase(DropDatabaseEvent event) throws MetaException {
    Pending.forgetCounts();
    Note note =
        new Note()
            .with("operation", "DROP_DATABASE")
            .with("db", event.getDatabase().getName())
            .with("table", "")
            .with("owner", event.getDatabase().getOwnerName());
    dropped(event.getIHMSHandler(), event.getDatabase(), note);
  }

  private void dropped(IHMSHandler handler, TBase<?, ?> object, Note note) throws MetaException {
    try {
      if (live.get().mode == Settings.Mode.OFF) {
        return;
      }
      note.with("user", Journal.user()).with("object", Journal.object(object));
    } catch (Throwable error) {
      LOG.error("The lifecycle guard could not keep all of what is dropped", error);
    }
    write(handler, Journal.DROP, note);
  }

  private void pending(IHMSHandler handler, Object subject) throws MetaException {
    Note note = Pending.take(subject);
    if (note != null) {
      write(handler, Journal.POLICY, note);
    }
  }

  private static void write(IHMSHandler handler, String type, Note note) throws MetaException {
    try {
      Journal.write(handler, type, note);
    } catch (MetaException error) {
      throw error; // the change was taken back: say so
    } catch (Throwable error) {
      LOG.error("The lifecycle guard could not write a note of {}", type, error);
    }
  }
}
