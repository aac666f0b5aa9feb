package lakewarden.spark.indexes;

import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.JavaConverters;

/**
 * The columns of a plan that does nothing but scan and name them, as the scan reads them: in
 * batches. Making a row of each of their rows took longer than to read them.
 */
final class ScannedColumns {
  private final SparkPlan scan;
  private final int[] places;

  private ScannedColumns(SparkPlan scan, int[] places) {
    this.scan = scan;
    this.places = places;
  }

  /** Return them; empty where the plan does more, or reads row by row. */
  static Optional<ScannedColumns> of(SparkPlan plan) {
    if (plan instanceof WholeStageCodegenExec) {
      return of(((WholeStageCodegenExec) plan).child());
    }
    if (plan instanceof InputAdapter) {
      return of(((InputAdapter) plan).child());
    }
    if (plan instanceof ColumnarToRowExec) {
      return of(((ColumnarToRowExec) plan).child());
    }
    if (plan instanceof ProjectExec) {
      return of(((ProjectExec) plan).child()).flatMap(below -> below.selected((ProjectExec) plan));
    }
    if (plan instanceof BatchScanExec && plan.supportsColumnar()) {
      return Optional.of(new ScannedColumns(plan, inOrder(plan.output().length())));
    }
    return Optional.empty();
  }

  static int[] inOrder(int count) {
    int[] places = new int[count];
    for (int at = 0; at < count; at++) {
      places[at] = at;
    }
    return places;
  }

  private Optional<ScannedColumns> selected(ProjectExec project) {
    int[] found = new int[project.projectList().length()];
    int at = 0;
    for (NamedExpression one : JavaConverters.seqAsJavaList(project.projectList())) {
      Expression named = one instanceof Alias ? ((Alias) one).child() : (Expression) one;
      int place = named instanceof Attribute ? placeOf((Attribute) named, project.child()) : -1;
      if (place < 0) {
        return Optional.empty();
      }
      found[at++] = places[place];
    }
    return Optional.of(new ScannedColumns(scan, found));
  }

  private static int placeOf(Attribute attribute, SparkPlan child) {
    int at = 0;
    for (Attribute one : JavaConverters.seqAsJavaList(child.output())) {
      if (one.exprId().equals(attribute.exprId())) {
        return at;
      }
      at++;
    }
    return -1;
  }

  /** Where in a batch each column of the plan stands. */
  int[] places() {
    return places;
  }

  JavaRDD<ColumnarBatch> batches() {
    return scan.executeColumnar().toJavaRDD();
  }
}
