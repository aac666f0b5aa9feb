package lakewarden.spark.indexes;

/** Distinct 64-bit numbers, in no order: half the memory of a `LongSet`, and one look a number. */
final class KeySet {
  private static final int FIRST = 1 << 10;

  /** 0 is an empty slot; whether the number 0 is there is kept apart. */
  private long[] numbers = new long[FIRST];

  private boolean hasZero;
  private int used;

  int size() {
    return used + (hasZero ? 1 : 0);
  }

  void add(long number) {
    if (number == 0) {
      hasZero = true;
      return;
    }
    int at = slot(numbers, number);
    if (numbers[at] == 0) {
      numbers[at] = number;
      if (++used > numbers.length / 4 * 3) {
        grow();
      }
    }
  }

  boolean has(long number) {
    return number == 0 ? hasZero : numbers[slot(numbers, number)] != 0;
  }

  long[] all() {
    long[] found = new long[size()];
    int count = hasZero ? 1 : 0;
    for (long number : numbers) {
      if (number != 0) {
        found[count++] = number;
      }
    }
    return found;
  }

  private static int slot(long[] numbers, long number) {
    int mask = numbers.length - 1;
    int at = (int) (Hashing.mix(number) >>> 32) & mask;
    while (numbers[at] != 0 && numbers[at] != number) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    long[] wider = new long[numbers.length * 2];
    for (long number : numbers) {
      if (number != 0) {
        wider[slot(wider, number)] = number;
      }
    }
    numbers = wider;
  }
}
