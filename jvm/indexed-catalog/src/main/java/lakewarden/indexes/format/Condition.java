package lakewarden.indexes.format;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/** A condition on one row: leaves on single columns under AND, OR and NOT. */
public abstract class Condition {
  /** What is true of any row, or cannot be judged by an index. */
  public static final Condition UNKNOWN =
      new Condition() {
        @Override
        public Answer answer(Function<Leaf, Answer> ask) {
          return Answer.UNKNOWN;
        }

        @Override
        public void leaves(Consumer<Leaf> take) {}

        @Override
        public String toString() {
          return "?";
        }
      };

  /** What no row satisfies, nor null. */
  public static final Condition NEVER =
      new Condition() {
        @Override
        public Answer answer(Function<Leaf, Answer> ask) {
          return Answer.NEVER;
        }

        @Override
        public void leaves(Consumer<Leaf> take) {}

        @Override
        public String toString() {
          return "false";
        }
      };

  /** Work out the answer for one file from what its indexes say of the leaves. */
  public abstract Answer answer(Function<Leaf, Answer> ask);

  public abstract void leaves(Consumer<Leaf> take);

  public static Condition both(Condition a, Condition b) {
    return a == UNKNOWN ? b : b == UNKNOWN ? a : all(List.of(a, b));
  }

  /** AND; two bounds of one column become a range besides. */
  public static Condition all(List<Condition> parts) {
    List<Condition> flat = new ArrayList<>();
    parts.forEach(part -> addTo(flat, part));
    Map<Integer, Leaf> above = new LinkedHashMap<>();
    Map<Integer, Leaf> below = new HashMap<>();
    for (Condition part : flat) {
      if (part instanceof Leaf) {
        Leaf leaf = (Leaf) part;
        if (leaf.kind == Leaf.Kind.GREATER || leaf.kind == Leaf.Kind.GREATER_OR_EQUAL) {
          above.put(leaf.field, leaf);
        } else if (leaf.kind == Leaf.Kind.LESS || leaf.kind == Leaf.Kind.LESS_OR_EQUAL) {
          below.put(leaf.field, leaf);
        }
      }
    }
    above.forEach(
        (field, from) -> {
          if (below.containsKey(field)) {
            flat.add(Leaf.between(from, below.get(field)));
          }
        });
    return flat.size() == 1 ? flat.get(0) : new Joined(flat, true);
  }

  private static void addTo(List<Condition> flat, Condition part) {
    if (part instanceof Joined && ((Joined) part).all) {
      ((Joined) part).parts.forEach(each -> addTo(flat, each));
    } else if (!(part instanceof Leaf) || ((Leaf) part).kind != Leaf.Kind.BETWEEN) {
      flat.add(part);
    }
  }

  public static Condition any(List<Condition> parts) {
    return parts.size() == 1 ? parts.get(0) : new Joined(parts, false);
  }

  public static Condition not(Condition part) {
    return part == UNKNOWN ? UNKNOWN : new Negated(part);
  }

  private static final class Joined extends Condition {
    private final List<Condition> parts;
    private final boolean all;

    Joined(List<Condition> parts, boolean all) {
      this.parts = List.copyOf(parts);
      this.all = all;
    }

    @Override
    public Answer answer(Function<Leaf, Answer> ask) {
      Answer found = null;
      for (Condition part : parts) {
        Answer said = part.answer(ask);
        found = found == null ? said : all ? found.and(said) : found.or(said);
      }
      return found == null ? Answer.UNKNOWN : found;
    }

    @Override
    public void leaves(Consumer<Leaf> take) {
      parts.forEach(part -> part.leaves(take));
    }

    @Override
    public String toString() {
      StringBuilder out = new StringBuilder("(");
      for (Condition part : parts) {
        out.append(out.length() == 1 ? "" : all ? " AND " : " OR ").append(part);
      }
      return out.append(")").toString();
    }
  }

  private static final class Negated extends Condition {
    private final Condition part;

    Negated(Condition part) {
      this.part = part;
    }

    @Override
    public Answer answer(Function<Leaf, Answer> ask) {
      return part.answer(ask).not();
    }

    @Override
    public void leaves(Consumer<Leaf> take) {
      part.leaves(take);
    }

    @Override
    public String toString() {
      return "NOT " + part;
    }
  }
}
