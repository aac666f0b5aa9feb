package lakewarden.guard;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RawStore;
import org.apache.hadoop.hive.metastore.TableType;
import org.apache.hadoop.hive.metastore.Warehouse;
import org.apache.hadoop.hive.metastore.api.Database;
import org.apache.hadoop.hive.metastore.api.NoSuchObjectException;
import org.apache.hadoop.hive.metastore.api.Partition;
import org.apache.hadoop.hive.metastore.api.Table;
import org.apache.hadoop.hive.metastore.events.PreAddPartitionEvent;
import org.apache.hadoop.hive.metastore.events.PreAlterDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.PreAlterTableEvent;
import org.apache.hadoop.hive.metastore.events.PreCreateDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.PreCreateTableEvent;
import org.apache.hadoop.hive.metastore.events.PreDropDatabaseEvent;
import org.apache.hadoop.hive.metastore.events.PreDropTableEvent;
import org.apache.hadoop.hive.metastore.events.PreEventContext;
import org.apache.thrift.TException;

/** One change before it happens: Hive's objects put before the rules, and what follows of them. */
final class Judgement {
  private static final long MOST_COUNTING_NANOS = 10_000_000_000L;

  private final Settings settings;
  private final String defaultFs;
  private final PreEventContext context;
  private final IHMSHandler handler;
  private final String user = Journal.user();
  private final Rules rules;
  private final Note note = new Note();

  Judgement(Settings settings, PreEventContext context, String defaultFs) {
    this.settings = settings;
    this.defaultFs = defaultFs;
    this.context = context;
    this.handler = context.getHandler();
    this.rules = new Rules(settings, user);
  }

  /** Gives the sentence to refuse with, or null when the change may go on. */
  String refusal() throws TException {
    switch (context.getEventType()) {
      case CREATE_DATABASE:
        return createDatabase(((PreCreateDatabaseEvent) context).getDatabase());
      case ALTER_DATABASE:
        PreAlterDatabaseEvent database = (PreAlterDatabaseEvent) context;
        return alterDatabase(database.getOldDatabase(), database.getNewDatabase());
      case DROP_DATABASE:
        countAll(((PreDropDatabaseEvent) context).getDatabase());
        return null;
      case CREATE_TABLE:
        return createTable(((PreCreateTableEvent) context).getTable());
      case ALTER_TABLE:
        PreAlterTableEvent table = (PreAlterTableEvent) context;
        return alterTable(table.getOldTable(), table.getNewTable());
      case DROP_TABLE:
        Table dropped = ((PreDropTableEvent) context).getTable();
        Pending.put(dropped, new Note().with("n_partitions", count(dropped)));
        return null;
      default:
        return addPartitions((PreAddPartitionEvent) context);
    }
  }

  private String createDatabase(Database database) throws TException {
    String name = database.getName();
    rules.mayCreateDatabase(name);
    rules.given(name, Policy.of(database.getParameters()), settings.defaults);
    place(database);
    return decided(database, name, "", database.getOwnerName());
  }

  private String alterDatabase(Database before, Database after) throws TException {
    String name = before.getName();
    rules.changed(name, Policy.of(before.getParameters()), Policy.of(after.getParameters()));
    if (!Objects.equals(before.getLocationUri(), after.getLocationUri())
        || !Objects.equals(before.getOwnerName(), after.getOwnerName())) {
      place(after);
    }
    changes(before.getParameters(), after.getParameters());
    return decided(after, name, "", before.getOwnerName());
  }

  private String createTable(Table table) throws TException {
    Database database = database(table);
    if (database == null) {
      return null;
    }
    String name = name(table);
    Policy given = Policy.of(table.getParameters());
    Policy inherited = Policy.of(database.getParameters()).orElse(settings.defaults);
    rules.mayCreateTable(name, database.getOwnerName());
    rules.given(name, given, inherited);
    place(table, database, false);
    String refusal = decided(table, table.getDbName(), table.getTableName(), table.getOwner());
    if (refusal == null && settings.mode == Settings.Mode.ENFORCE && holdsData(table)) {
      table.setParameters(given.completed(table.getParameters(), inherited));
    }
    return refusal;
  }

  private String alterTable(Table before, Table after) throws TException {
    Policy old = Policy.of(before.getParameters());
    rules.changed(name(before), old, Policy.of(after.getParameters()));
    boolean isMoved = !before.getDbName().equals(after.getDbName());
    if (isMoved
        || !Objects.equals(location(before), location(after))
        || !Objects.equals(before.getOwner(), after.getOwner())) {
      Database database = database(after);
      if (database != null) {
        place(after, database, isMoved && movesAlong(before, after));
      }
    }
    changes(before.getParameters(), after.getParameters());
    if (!name(before).equals(name(after))) {
      note.with("new_name", name(after));
    }
    return decided(after, before.getDbName(), before.getTableName(), before.getOwner());
  }

  private String addPartitions(PreAddPartitionEvent event) throws TException {
    if (settings.paths == Settings.Paths.OFF || rules.isAdmin()) {
      return null;
    }
    Table table = event.getTable();
    Place home = placeOf(location(table));
    Iterator<Partition> partitions =
        event.getPartitions() == null
            ? event.getPartitionIterator()
            : event.getPartitions().iterator();
    while (partitions.hasNext() && rules.breaches().isEmpty()) {
      Partition one = partitions.next();
      String location = one.getSd() == null ? null : one.getSd().getLocation();
      if (location != null && !location.isEmpty()) {
        rules.partitionPlace(name(table) + " " + one.getValues(), placeOf(location), home);
      }
    }
    return decided(table, table.getDbName(), table.getTableName(), table.getOwner());
  }

  /** Says what follows of the breaches: a refusal, or a note for when the change has happened. */
  private String decided(Object subject, String db, String table, String owner) throws TException {
    List<Breach> breaches = rules.breaches();
    if (breaches.isEmpty() && !note.has("before")) {
      return null;
    }
    boolean isGrave = breaches.stream().anyMatch(one -> !one.isPath)
        || (!breaches.isEmpty() && settings.paths == Settings.Paths.DENY);
    boolean isRefused = isGrave && settings.mode == Settings.Mode.ENFORCE;
    note.with("operation", context.getEventType().name())
        .with("db", db)
        .with("table", table)
        .with("owner", owner)
        .with("user", user)
        .with("admin", rules.isAdmin())
        .with("outcome", outcome(breaches, isGrave, isRefused))
        .with(breaches);
    if (!isRefused) {
      Pending.put(subject, note);
      return null;
    }
    Journal.tryWrite(handler, Journal.POLICY, note);
    StringBuilder words = new StringBuilder("Lakewarden refuses this.");
    breaches.forEach(one -> words.append(' ').append(one.text));
    return words.toString();
  }

  private String outcome(List<Breach> breaches, boolean isGrave, boolean isRefused) {
    if (breaches.isEmpty()) {
      return "changed";
    }
    return isRefused ? "refused" : isGrave ? "would_refuse" : "warned";
  }

  private void changes(Map<String, String> before, Map<String, String> after) {
    Policy old = Policy.of(before);
    Policy fresh = Policy.of(after);
    if (!old.own().equals(fresh.own())) {
      note.with("before", old.own()).with("after", fresh.own());
    }
  }

  private void place(Database database) throws TException {
    if (settings.paths == Settings.Paths.OFF || rules.isAdmin()) {
      return;
    }
    Place place = placeOf(database.getLocationUri());
    String other = place == null ? null : overlapping(database, place);
    rules.databasePlace(database.getName(), place, database.getOwnerName(), other);
  }

  private String overlapping(Database database, Place place) throws TException {
    RawStore store = handler.getMS();
    String catalog = database.getCatalogName();
    for (String name : store.getAllDatabases(catalog)) {
      // The default database stands at the warehouse's root, above all others.
      if (!name.equals(database.getName()) && !name.equals(Warehouse.DEFAULT_DATABASE_NAME)) {
        Place other = placeOf(store.getDatabase(catalog, name).getLocationUri());
        if (other != null && (place.isAtOrUnder(other) || other.isAtOrUnder(place))) {
          return name;
        }
      }
    }
    return null;
  }

  private void place(Table table, Database database, boolean follows) {
    if (settings.paths == Settings.Paths.OFF || rules.isAdmin() || !holdsData(table)) {
      return;
    }
    Place home = placeOf(database.getLocationUri());
    if (home == null) {
      return; // the database's own breach, not the table's
    }
    String location = follows ? null : location(table);
    Place place =
        location == null || location.isEmpty()
            ? home.child(table.getTableName())
            : placeOf(location);
    rules.tablePlace(name(table), place, home, table.getOwner());
  }

  /** The table's database; null where there is none, which the metastore says best itself. */
  private Database database(Table table) throws TException {
    try {
      return handler.get_database_core(catalog(table), table.getDbName());
    } catch (NoSuchObjectException error) {
      return null;
    }
  }

  /** Whether the metastore itself will move a renamed table into its new database. */
  private boolean movesAlong(Table before, Table after) {
    Place place = placeOf(location(before));
    return TableType.MANAGED_TABLE.name().equals(before.getTableType())
        && Objects.equals(location(before), location(after))
        && place != null
        && place.name().equals(before.getTableName());
  }

  private Place placeOf(String location) {
    return Place.of(location, defaultFs, settings.aliases);
  }

  /** Counts the partitions of every table: a drop with CASCADE takes them before their tables. */
  private void countAll(Database database) throws TException {
    long end = System.nanoTime() + MOST_COUNTING_NANOS;
    RawStore store = handler.getMS();
    String catalog = database.getCatalogName();
    Map<String, Integer> counts = new HashMap<>();
    for (String table : store.getAllTables(catalog, database.getName())) {
      if (System.nanoTime() < end) {
        counts.put(
            database.getName() + "." + table,
            store.getNumPartitionsByFilter(catalog, database.getName(), table, ""));
      }
    }
    Pending.countedBeforeDrop(counts);
  }

  private Integer count(Table table) throws TException {
    if (table.getPartitionKeysSize() == 0) {
      return 0;
    }
    int now =
        handler.getMS().getNumPartitionsByFilter(
            catalog(table), table.getDbName(), table.getTableName(), "");
    Integer earlier = Pending.counted(name(table));
    return now == 0 && earlier != null ? earlier : Integer.valueOf(now);
  }

  private static String catalog(Table table) {
    return table.isSetCatName() ? table.getCatName() : Warehouse.DEFAULT_CATALOG_NAME;
  }

  private static String name(Table table) {
    return table.getDbName() + "." + table.getTableName();
  }

  private static String location(Table table) {
    return table.getSd() == null ? null : table.getSd().getLocation();
  }

  /** Views have no data that could grow old. */
  private static boolean holdsData(Table table) {
    String type = table.getTableType();
    return type == null
        || type.equals(TableType.MANAGED_TABLE.name())
        || type.equals(TableType.EXTERNAL_TABLE.name());
  }
}
