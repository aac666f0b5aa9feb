package lakewarden.ready;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.DefaultMetaStoreFilterHookImpl;
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.api.Partition;
import org.apache.thrift.TException;

/**
 * Asks the metastore, over a connection without any hook, which partitions are not ready. Several
 * releases of Hive make their client of different things, so it is made by reflection.
 */
final class Unfiltered {
  /** So many partitions are asked for at once. */
  private static final int AT_ONCE = 1000;

  private final Configuration settings;

  Unfiltered(Configuration own) {
    settings = copy(own);
    String none = DefaultMetaStoreFilterHookImpl.class.getName();
    settings.set("hive.metastore.filter.hook", none);
    settings.set("metastore.filter.hook", none);
  }

  /** Give the values of those of the named partitions that are there and are ready. */
  Set<List<String>> readyOf(String catalog, String db, String table, List<String> names)
      throws MetaException {
    Set<List<String>> ready = new HashSet<>();
    try {
      HiveMetaStoreClient client = connected(catalog);
      try {
        for (int start = 0; start < names.size(); start += AT_ONCE) {
          List<String> some = names.subList(start, Math.min(start + AT_ONCE, names.size()));
          for (Partition one : client.getPartitionsByNames(db, table, new ArrayList<>(some))) {
            if (Readiness.isReady(one.getParameters())) {
              ready.add(one.getValues());
            }
          }
        }
      } finally {
        client.close();
      }
    } catch (MetaException error) {
      throw error;
    } catch (TException | ReflectiveOperationException error) {
      throw new MetaException(
          "Which partitions of " + db + "." + table + " are ready could not be asked: " + error);
    }
    return ready;
  }

  private HiveMetaStoreClient connected(String catalog) throws ReflectiveOperationException {
    Configuration wanted = copy(settings);
    if (catalog != null) {
      // Hive 3 asks the catalog of its settings when it is told none.
      wanted.set("metastore.catalog.default", catalog);
    }
    for (Constructor<?> made : HiveMetaStoreClient.class.getConstructors()) {
      Class<?>[] of = made.getParameterTypes();
      if (of.length == 1 && of[0].isInstance(wanted)) {
        try {
          return (HiveMetaStoreClient) made.newInstance(wanted);
        } catch (InvocationTargetException error) {
          throw new ReflectiveOperationException(String.valueOf(error.getCause()), error);
        }
      }
    }
    throw new NoSuchMethodException("This Hive's metastore client is made of no configuration.");
  }

  private static Configuration copy(Configuration of) {
    return of instanceof HiveConf ? new HiveConf((HiveConf) of) : new Configuration(of);
  }
}
