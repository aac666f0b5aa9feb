package lakewarden.cubes;

import java.math.BigDecimal;
import lakewarden.indexes.Part;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

/** An answer from a cube and from the data files that it does not cover. */
final class CubeAnswer extends Answer {
  private final Query<Leaf> query;
  private final Joins joins;
  private final Covered covered;
  private final DataSourceV2Relation relation;
  private final Definition cube;
  private final String note;

  CubeAnswer(
      SparkSession session, Query<Leaf> query, Joins joins, Cube cube, Covered covered,
      String note) {
    this(session, query, joins, cube, covered, note, cube.relation(note, cube.use(covered)));
  }

  private CubeAnswer(
      SparkSession session, Query<Leaf> query, Joins joins, Cube cube, Covered covered,
      String note, DataSourceV2Relation relation) {
    super(
        query,
        joins,
        new Columns(session, cube.definition, joins, Catalyst.list(relation.output())),
        new Exactness(session.sessionState().conf(), bounds(cube.coverage, covered)));
    this.query = query;
    this.joins = joins;
    this.covered = covered;
    this.relation = relation;
    this.cube = cube.definition;
    this.note = note;
  }

  private static Exactness.Bounds bounds(Coverage coverage, Covered covered) {
    return new Exactness.Bounds() {
      @Override
      public BigDecimal greatest(String measure) {
        return coverage.greatest(measure);
      }

      @Override
      public boolean mayHaveNegativeZero(String measure) {
        return coverage.mayHaveNegativeZero(measure);
      }

      @Override
      public BigDecimal rows() {
        return BigDecimal.valueOf(covered.rows);
      }

      @Override
      public long freshRows() {
        return covered.freshRows;
      }
    };
  }

  @Override
  LogicalPlan rows() {
    return Rows.of(relation, columns, cube, covered.units, passed);
  }

  @Override
  LogicalPlan rest() {
    return covered.fresh.isEmpty()
        ? null
        : Catalyst.replace(query.aggregate.child(), this::pinned);
  }

  /** The same snapshots that were judged: another may be committed in this moment. */
  private LogicalPlan pinned(LogicalPlan plan) {
    for (Leaf leaf : query.leaves) {
      if (leaf.relation == plan) {
        if (!leaf.canBePinned()) {
          throw new Unfit("the columns of %s changed after its last commit", leaf.name());
        }
        return leaf.reading(
            leaf == joins.fact()
                ? Part.only(leaf.pinned(), covered.fresh, note)
                : leaf.pinned());
      }
    }
    return null;
  }
}
