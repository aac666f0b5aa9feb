package lakewarden.spark.indexes;

/**
 * Decides at the end of a data file which index of a column is worth its bytes. Few values: a bitmap,
 * which answers the most. Many: a filter. One value, or none: nothing.
 */
final class AutoBuilder implements Builder {
  private static final double MOST_BYTES_A_ROW = 2.0;
  private static final int FEW_VALUES = 100;

  private final Builder bitmap = new BitmapBuilder();
  private final Builder filter;
  private int rows;

  /** `filter` is null where the type can have none. */
  AutoBuilder(Builder filter) {
    this.filter = filter;
  }

  @Override
  public void add(Cell cell, int row) {
    rows = row + 1;
    bitmap.add(cell, row);
    if (filter != null) {
      filter.add(cell, row);
    }
  }

  @Override
  public Body finish() {
    Body body = bitmap.finish();
    if (body.refused.isEmpty()) {
      if (body.keys < 2) {
        return ChosenFilter.oneValue(body);
      }
      boolean isSmall = body.bytes.length <= MOST_BYTES_A_ROW * rows;
      if (filter == null || body.keys <= FEW_VALUES || isSmall) {
        return body;
      }
    }
    return filter == null ? body : filter.finish();
  }
}
