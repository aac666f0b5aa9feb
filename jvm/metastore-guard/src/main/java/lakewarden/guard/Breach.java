package lakewarden.guard;

/** One broken rule: its stable name and the sentence for who broke it. */
final class Breach {
  final String rule;
  final String text;
  final boolean isPath;

  private Breach(String rule, String text, boolean isPath) {
    this.rule = rule;
    this.text = text;
    this.isPath = isPath;
  }

  static Breach of(String rule, String text) {
    return new Breach(rule, text, false);
  }

  static Breach ofPath(String rule, String text) {
    return new Breach(rule, text, true);
  }
}
