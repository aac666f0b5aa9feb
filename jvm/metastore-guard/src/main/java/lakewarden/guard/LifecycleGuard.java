package lakewarden.guard;

import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.MetaStorePreEventListener;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.events.PreEventContext;
import org.apache.hadoop.hive.metastore.events.PreEventContext.PreEventType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands before each change in the metastore: gives new tables their own LEVEL and TTL and refuses
 * what only lifecycle admins may do. Set in `metastore.pre.event.listeners`.
 *
 * <p>In audit mode it changes and refuses nothing; GuardRecorder writes down what enforce would have
 * refused. A mistake of the guard itself is logged and lets the change through as if there were no
 * guard: parameters are set in one step at the very end.
 */
public class LifecycleGuard extends MetaStorePreEventListener {
  private static final Logger LOG = LoggerFactory.getLogger(LifecycleGuard.class);
  private static final Set<PreEventType> WATCHED =
      EnumSet.of(
          PreEventType.CREATE_DATABASE,
          PreEventType.ALTER_DATABASE,
          PreEventType.DROP_DATABASE,
          PreEventType.CREATE_TABLE,
          PreEventType.ALTER_TABLE,
          PreEventType.DROP_TABLE,
          PreEventType.ADD_PARTITION);

  private final LiveSettings live;
  private final String defaultFs;

  public LifecycleGuard(Configuration conf) {
    super(conf);
    this.live = new LiveSettings(conf);
    this.defaultFs = conf.get("fs.defaultFS", "file:///");
  }

  @Override
  public void onEvent(PreEventContext context) throws MetaException {
    if (!WATCHED.contains(context.getEventType())) {
      return; // reads fire all the time
    }
    String refusal = null;
    boolean within = false;
    try {
      Settings settings = live.get();
      if (settings.mode != Settings.Mode.OFF) {
        within = context.getHandler().getMS().isActiveTransaction();
        refusal = new Judgement(settings, context, defaultFs).refusal();
      }
    } catch (Throwable error) {
      LOG.error("The lifecycle guard failed on {}; it goes on unguarded", context.getEventType(), error);
      if (within && !isActive(context)) {
        // A failed query took the metastore's transaction with it: to go on would do half of it.
        refusal = "Lakewarden: the metastore's database failed, so nothing was changed. Try again.";
      }
    }
    if (refusal != null) {
      throw new MetaException(refusal);
    }
  }

  private static boolean isActive(PreEventContext context) {
    try {
      return context.getHandler().getMS().isActiveTransaction();
    } catch (Throwable error) {
      return false;
    }
  }
}
