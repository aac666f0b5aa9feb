package lakewarden.indexes.format;

/** A blob or manifest that is not used: damaged, newer than this reader, or of something else. */
public final class Unusable extends Exception {
  private static final long serialVersionUID = 1L;

  public Unusable(String why) {
    super(why);
  }
}
