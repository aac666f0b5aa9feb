package lakewarden.ready;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.MetaStoreFilterHook;
import org.apache.hadoop.hive.metastore.api.Database;
import org.apache.hadoop.hive.metastore.api.Index;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.api.NoSuchObjectException;
import org.apache.hadoop.hive.metastore.api.Partition;
import org.apache.hadoop.hive.metastore.api.PartitionListComposingSpec;
import org.apache.hadoop.hive.metastore.api.PartitionSpec;
import org.apache.hadoop.hive.metastore.api.PartitionSpecWithSharedSD;
import org.apache.hadoop.hive.metastore.api.Table;
import org.apache.hadoop.hive.metastore.api.TableMeta;

/**
 * Hides partitions whose data is not complete from whoever reads through Hive's metastore client:
 * <code>hive.metastore.filter.hook=lakewarden.ready.ReadyPartitions</code>.
 *
 * <p>It is an agreement between readers, no protection: whoever sets includeUnCommit=true, reads
 * the files, or uses another client sees everything.
 *
 * <p>It is compiled against Hive 2.3 and carries Hive 3's methods beside, which is why not all say
 * Override, and why it does not extend Hive's own hook, whose constructor is another in Hive 3.
 */
public class ReadyPartitions implements MetaStoreFilterHook {
  private final Unfiltered metastore;
  private final Lifted lifted;

  /** Called by the metastore client of Hive 2, once for each connection. */
  public ReadyPartitions(HiveConf conf) {
    this((Configuration) conf);
  }

  /** Called by the metastore client of Hive 3, once for each connection. */
  public ReadyPartitions(Configuration conf) {
    lifted = new Lifted(conf);
    metastore = new Unfiltered(conf);
  }

  @Override
  public List<Partition> filterPartitions(List<Partition> partitions) {
    if (partitions == null || lifted.isLifted()) {
      return partitions;
    }
    return those(partitions, partition -> Readiness.isReady(partition.getParameters()));
  }

  @Override
  public Partition filterPartition(Partition partition) throws NoSuchObjectException {
    if (partition == null
        || Readiness.isReady(partition.getParameters())
        || lifted.isLifted()) {
      return partition;
    }
    throw new NoSuchObjectException(
        "The partition "
            + partition.getValues()
            + " of "
            + partition.getDbName()
            + "."
            + partition.getTableName()
            + " is not ready yet ("
            + Readiness.FLAG
            + "=false); "
            + Lifted.SETTING
            + "=true shows it.");
  }

  @Override
  public List<PartitionSpec> filterPartitionSpecs(List<PartitionSpec> specs) {
    if (specs == null || lifted.isLifted()) {
      return specs;
    }
    List<PartitionSpec> found = new ArrayList<>(specs.size());
    for (PartitionSpec spec : specs) {
      found.add(readyOf(new PartitionSpec(spec)));
    }
    return found;
  }

  @Override
  public List<String> filterPartitionNames(String db, String table, List<String> names)
      throws MetaException {
    return filterPartitionNames(null, db, table, names);
  }

  /**
   * Names tell nothing of parameters, so the partitions behind them are asked for over a connection
   * of its own. A listing of names that cannot be judged fails: it is neither given out whole, which
   * would show what is not ready, nor empty, which would hide what is.
   */
  public List<String> filterPartitionNames(
      String catalog, String db, String table, List<String> names) throws MetaException {
    if (names == null || names.isEmpty() || lifted.isLifted()) {
      return names;
    }
    Set<List<String>> ready = metastore.readyOf(catalog, db, table, names);
    return those(names, name -> ready.contains(PartitionValues.of(name)));
  }

  private static PartitionSpec readyOf(PartitionSpec spec) {
    if (spec.isSetPartitionList()) {
      PartitionListComposingSpec list = spec.getPartitionList();
      list.setPartitions(
          those(list.getPartitions(), one -> Readiness.isReady(one.getParameters())));
    }
    if (spec.isSetSharedSDPartitionSpec()) {
      PartitionSpecWithSharedSD shared = spec.getSharedSDPartitionSpec();
      shared.setPartitions(
          those(shared.getPartitions(), one -> Readiness.isReady(one.getParameters())));
    }
    return spec;
  }

  private static <T> List<T> those(List<T> all, Predicate<T> isShown) {
    if (all == null) {
      return null;
    }
    List<T> found = new ArrayList<>(all.size());
    for (T one : all) {
      if (isShown.test(one)) {
        found.add(one);
      }
    }
    return found;
  }

  // All else is shown as it is.

  @Override
  public List<String> filterDatabases(List<String> names) {
    return names;
  }

  @Override
  public Database filterDatabase(Database database) {
    return database;
  }

  @Override
  public List<String> filterTableNames(String db, List<String> names) {
    return names;
  }

  /** As Hive 3 asks. */
  public List<String> filterTableNames(String catalog, String db, List<String> names) {
    return names;
  }

  /** As Hive 3 asks. */
  public List<TableMeta> filterTableMetas(List<TableMeta> metas) {
    return metas;
  }

  @Override
  public Table filterTable(Table table) {
    return table;
  }

  @Override
  public List<Table> filterTables(List<Table> tables) {
    return tables;
  }

  @Override
  public Index filterIndex(Index index) {
    return index;
  }

  @Override
  public List<String> filterIndexNames(String db, String table, List<String> names) {
    return names;
  }

  @Override
  public List<Index> filterIndexes(List<Index> indexes) {
    return indexes;
  }
}
