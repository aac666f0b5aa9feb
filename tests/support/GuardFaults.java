import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import lakewarden.guard.GuardRecorder;
import lakewarden.guard.LifecycleGuard;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RawStore;
import org.apache.hadoop.hive.metastore.api.FieldSchema;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.api.Table;
import org.apache.hadoop.hive.metastore.events.DropTableEvent;
import org.apache.hadoop.hive.metastore.events.PreCreateTableEvent;
import org.apache.hadoop.hive.metastore.events.PreDropTableEvent;

/** What the guard does when everything around it breaks; one line a case: its name and what came. */
public class GuardFaults {
  private static final AtomicBoolean ACTIVE = new AtomicBoolean();

  interface Call {
    void run() throws Exception;
  }

  public static void main(String[] args) {
    Configuration conf = new Configuration(false);
    conf.set("hive.lifecycle.guard.mode", "enforce");
    LifecycleGuard guard = new LifecycleGuard(conf);
    GuardRecorder recorder = new GuardRecorder(conf);

    for (Throwable fault : new Throwable[] {new StackOverflowError(), new IllegalStateException("x")}) {
      Table table = table();
      Map<String, String> before = new HashMap<>(table.getParameters());
      say("create " + fault, () -> guard.onEvent(new PreCreateTableEvent(table, handler(fault, false))));
      say("  its parameters", () -> {
        if (!before.equals(table.getParameters())) {
          throw new IllegalStateException("half a change: " + table.getParameters());
        }
      });
      say("drop, transaction alive, " + fault,
          () -> guard.onEvent(new PreDropTableEvent(table, true, handler(fault, false))));
      say("drop, transaction lost, " + fault,
          () -> guard.onEvent(new PreDropTableEvent(table, true, handler(fault, true))));
      say("note, transaction alive, " + fault,
          () -> recorder.onDropTable(new DropTableEvent(table, true, true, handler(fault, false))));
      say("note, transaction lost, " + fault,
          () -> recorder.onDropTable(new DropTableEvent(table, true, true, handler(null, true))));
    }
    say("no handler", () -> guard.onEvent(new PreCreateTableEvent(table(), null)));
  }

  private static void say(String name, Call call) {
    String came = "passed";
    try {
      call.run();
    } catch (MetaException error) {
      came = "refused: " + error.getMessage();
    } catch (Throwable error) {
      came = "BROKE: " + error;
    }
    System.out.println(name + " | " + came);
  }

  private static Table table() {
    Table table = new Table();
    table.setDbName("db");
    table.setTableName("t");
    table.setPartitionKeys(Collections.singletonList(new FieldSchema("dt", "string", "")));
    table.setParameters(new HashMap<>(Collections.singletonMap("note", "mine")));
    return table;
  }

  /** A handler whose store fails on everything but the question whether a transaction is open. */
  private static IHMSHandler handler(Throwable fault, boolean losesTransaction) {
    ACTIVE.set(true);
    RawStore store = (RawStore) Proxy.newProxyInstance(
        GuardFaults.class.getClassLoader(), new Class<?>[] {RawStore.class}, (proxy, method, args) -> {
          if (method.getName().equals("isActiveTransaction")) {
            return ACTIVE.get();
          }
          ACTIVE.set(!losesTransaction);
          if (fault != null) {
            throw fault;
          }
          return null;
        });
    return (IHMSHandler) Proxy.newProxyInstance(
        GuardFaults.class.getClassLoader(), new Class<?>[] {IHMSHandler.class}, (proxy, method, args) -> {
          if (method.getName().equals("getMS")) {
            return store;
          }
          throw fault == null ? new IllegalStateException("not asked") : fault;
        });
  }
}
