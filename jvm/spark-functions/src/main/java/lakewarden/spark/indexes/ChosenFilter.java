package lakewarden.spark.indexes;

/** A filter that was chosen for the whole table, where this file holds more than one value. */
final class ChosenFilter implements Builder {
  private final Builder filter;

  ChosenFilter(Builder filter) {
    this.filter = filter;
  }

  @Override
  public void add(Cell cell, int row) {
    filter.add(cell, row);
  }

  @Override
  public Body finish() {
    Body body = filter.finish();
    return body.refused.isEmpty() && body.keys < 2 ? oneValue(body) : body;
  }

  static Body oneValue(Body body) {
    return Body.refused(body.keys == 0 ? "only nulls" : "one value");
  }
}
