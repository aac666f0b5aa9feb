package lakewarden.reports;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** A condition on a column without its constants: how it narrows the column. */
final class Filter {
  static final String EQUAL = "=";
  static final String IN = "IN";
  static final String RANGE = "range";
  static final String PREFIX = "prefix";
  static final String CONTAINS = "contains";
  static final String NULL = "null";
  static final String DYNAMIC = "dynamic";
  static final String OTHER = "other";

  /** The place at which its table is read; columns of two may have one name. */
  final Object owner;

  final String column;
  final String kind;

  Filter(Object owner, String column, String kind) {
    this.owner = owner;
    this.column = column;
    this.kind = kind;
  }

  private Filter as(String other) {
    return new Filter(owner, column, other);
  }

  /** What an OR filters: values of one column are a list, all else helps little. */
  static List<Filter> either(List<List<Filter>> branches) {
    List<Filter> every = new ArrayList<>();
    branches.forEach(every::addAll);
    if (every.isEmpty()) {
      return every;
    }
    Filter first = every.get(0);
    boolean isOne = every.stream().allMatch(one -> one.isOf(first));
    if (isOne && branches.stream().allMatch(branch -> branch.size() == 1)) {
      Set<String> kinds = new LinkedHashSet<>();
      every.forEach(one -> kinds.add(one.kind));
      if (Set.of(EQUAL, IN).containsAll(kinds)) {
        return List.of(first.as(IN));
      }
      if (kinds.size() == 1) {
        return List.of(first);
      }
      if (Set.of(EQUAL, IN, RANGE).containsAll(kinds)) {
        return List.of(first.as(RANGE));
      }
    }
    every.replaceAll(one -> one.as(OTHER));
    return every;
  }

  /** What a NOT of these filters: whether a value is null is asked either way. */
  static List<Filter> negated(List<Filter> found) {
    List<Filter> all = new ArrayList<>(found);
    all.replaceAll(one -> one.kind.equals(NULL) ? one : one.as(OTHER));
    return all;
  }

  private boolean isOf(Filter other) {
    return owner == other.owner && column.equals(other.column);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Filter && isOf((Filter) other) && kind.equals(((Filter) other).kind);
  }

  @Override
  public int hashCode() {
    return Objects.hash(column, kind);
  }
}
