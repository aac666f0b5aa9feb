package lakewarden.indexes.format;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What a text must contain: the runs of literal characters between the wildcards of LIKE. */
public final class LikePattern {
  /** Characters that stand together; bounded where the text begins or ends with them. */
  public static final class Run {
    final String text;
    final boolean begins;
    final boolean ends;

    Run(String text, boolean begins, boolean ends) {
      this.text = text;
      this.begins = begins;
      this.ends = ends;
    }
  }

  private final List<Run> runs;

  private LikePattern(List<Run> runs) {
    this.runs = Collections.unmodifiableList(runs);
  }

  public static LikePattern equalTo(String text) {
    return of(text, true, true);
  }

  public static LikePattern containing(String text) {
    return of(text, false, false);
  }

  public static LikePattern beginningWith(String text) {
    return of(text, true, false);
  }

  public static LikePattern endingWith(String text) {
    return of(text, false, true);
  }

  /** A pattern of SQL's LIKE: `%`, `_` and an escape character. */
  public static LikePattern of(String pattern, char escape) {
    List<Run> runs = new ArrayList<>();
    StringBuilder run = new StringBuilder();
    boolean begins = true;
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      if (c == escape && i + 1 < pattern.length()) {
        i++;
        run.append(pattern.charAt(i));
      } else if (c == '%' || c == '_') {
        if (run.length() > 0) {
          runs.add(new Run(run.toString(), begins, false));
        }
        run.setLength(0);
        begins = false;
      } else {
        run.append(c);
      }
    }
    if (run.length() > 0) {
      runs.add(new Run(run.toString(), begins, true));
    }
    return new LikePattern(runs);
  }

  private static LikePattern of(String text, boolean begins, boolean ends) {
    return new LikePattern(List.of(new Run(text, begins, ends)));
  }

  public List<Run> runs() {
    return runs;
  }

  /** What every such text begins with, or "". */
  public String prefix() {
    return runs.isEmpty() || !runs.get(0).begins ? "" : runs.get(0).text;
  }

  /** Whether a text that begins with the prefix is already one. */
  boolean isPrefixAlone() {
    return runs.size() == 1 && runs.get(0).begins && !runs.get(0).ends;
  }
}
