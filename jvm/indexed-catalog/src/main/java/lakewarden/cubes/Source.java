package lakewarden.cubes;

import lakewarden.indexes.Part;
import org.apache.hadoop.fs.Path;
import org.apache.hudi.HoodieFileIndex;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Types.NestedField;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** A Hudi or Iceberg table in a query, with the commit that the query reads. */
final class Source {
  final String name;

  /** What identifies the table, whatever its name: Iceberg's uuid, the location of Hudi's. */
  final String id;

  /** Snapshot or instant; empty: the table has none yet. */
  final String commit;

  /** Whether it is read as it is, at no chosen commit. */
  final boolean isPlain;

  private final LogicalPlan relation;
  private final Leaf iceberg;

  private Source(LogicalPlan relation, Leaf iceberg, String name, String id, String commit) {
    this.relation = relation;
    this.iceberg = iceberg;
    this.name = name;
    this.id = id;
    this.commit = commit;
    isPlain = iceberg == null || iceberg.table.snapshotId() == null && iceberg.table.branch() == null;
  }

  /** The table that a plan reads; null where it reads none of these formats as a whole. */
  static Source of(LogicalPlan plan) {
    if (plan instanceof LogicalRelation) {
      return ofHudi((LogicalRelation) plan);
    }
    Leaf leaf = Leaf.of(plan);
    if (leaf == null || Part.isOf(leaf.table)) {
      return null;
    }
    Long snapshot = leaf.snapshotId();
    return new Source(
        plan, leaf, leaf.name(), leaf.uuid().toString(), snapshot == null ? "" : snapshot.toString());
  }

  private static Source ofHudi(LogicalRelation plan) {
    HoodieFileIndex index = HudiRead.index(plan);
    if (index == null) {
      return null;
    }
    String name =
        plan.catalogTable().isDefined()
            ? plan.catalogTable().get().identifier().unquotedString()
            : index.getBasePath().toString();
    String option = HudiRead.option(plan, index);
    if (option != null) {
      throw new Unfit("%s is read with the option %s", name, option);
    }
    if (!HudiRead.isSnapshot(index)) {
      throw new Unfit("%s is not read as it is", name);
    }
    org.apache.hudi.common.util.Option<HoodieInstant> newest =
        index
            .metaClient()
            .getActiveTimeline()
            .getCommitsTimeline()
            .filterCompletedInstants()
            .lastInstant();
    return new Source(
        plan,
        null,
        name,
        index.getBasePath().toString(),
        newest.isPresent() ? newest.get().requestedTime() : "");
  }

  boolean isOf(String table) {
    return iceberg != null ? id.equals(table) : place(id).equals(place(table));
  }

  /** One place may be written in several ways. */
  private static String place(String path) {
    if (path.isEmpty()) {
      return path;
    }
    String text = new Path(path).toString();
    return text.startsWith("file:") ? text.replaceFirst("^file:/+", "/") : text;
  }

  /** The query's attribute of a column; null where the query does not read it. */
  AttributeReference attribute(String column) {
    AttributeReference found = null;
    for (Attribute one : Catalyst.list(relation.output())) {
      if (one.name().equalsIgnoreCase(column)) {
        if (found != null) {
          throw new Unfit("%s has two columns %s", name, column);
        }
        found = (AttributeReference) one;
      }
    }
    return found;
  }

  /** Whether a name means the same column now as at another commit of the table. */
  boolean isSameColumn(String column, String at) {
    if (iceberg == null || at.isEmpty()) {
      return true;
    }
    long snapshot = Long.parseLong(at);
    if (iceberg.iceberg().snapshot(snapshot) == null) {
      return false;
    }
    Schema then = org.apache.iceberg.util.SnapshotUtil.schemaFor(iceberg.iceberg(), snapshot);
    NestedField was = then.caseInsensitiveFindField(column);
    NestedField is = iceberg.schema().caseInsensitiveFindField(column);
    return was != null
        && is != null
        && was.fieldId() == is.fieldId()
        && was.type().equals(is.type());
  }
}
