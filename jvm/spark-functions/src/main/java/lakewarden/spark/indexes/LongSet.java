package lakewarden.spark.indexes;

/** Distinct 64-bit numbers, each with the place at which it came first. */
final class LongSet {
  private static final int FIRST = 1 << 10;

  private long[] numbers = new long[FIRST];
  private int[] places = new int[FIRST];
  private int size;

  int size() {
    return size;
  }

  /** Return the place of a number, which is taken in if it is not there. */
  int add(long number) {
    int at = slot(number);
    if (places[at] != 0) {
      return places[at] - 1;
    }
    numbers[at] = number;
    places[at] = ++size;
    if (size > numbers.length / 4 * 3) {
      grow();
    }
    return size - 1;
  }

  boolean has(long number) {
    return places[slot(number)] != 0;
  }

  /** The numbers in the order of their coming. */
  long[] all() {
    long[] found = new long[size];
    for (int at = 0; at < numbers.length; at++) {
      if (places[at] != 0) {
        found[places[at] - 1] = numbers[at];
      }
    }
    return found;
  }

  private int slot(long number) {
    int mask = numbers.length - 1;
    int at = (int) (Hashing.mix(number) >>> 32) & mask;
    while (places[at] != 0 && numbers[at] != number) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    long[] before = numbers;
    int[] of = places;
    numbers = new long[before.length * 2];
    places = new int[before.length * 2];
    for (int at = 0; at < before.length; at++) {
      if (of[at] != 0) {
        int to = slot(before[at]);
        numbers[to] = before[at];
        places[to] = of[at];
      }
    }
  }
}
