package io.strata.kafka.crash;

/**
 * What one power cut takes, as a pure function of a seed: the same item is always kept, or always
 * lost. Some cuts lose all that may be lost of one sort, some nothing, some half, so that "all but
 * one" comes up too. Immutable.
 *
 * @param seed distinguishes this cut from others
 * @param byFile whether each file has a fate of its own, in place of each page
 */
public record Loss(long seed, boolean byFile) {

  private static final double[] SHARES = {0, 0, 0.05, 0.5, 0.5, 0.95, 1, 1};

  /** What becomes of the unsynced part of a file. */
  enum Fate {
    /** Each page for itself. */
    BY_PAGE,
    /** All of it is there. */
    WHOLE,
    /** The end is not. */
    CUT,
    /** The size is there, and where nothing was before are zeros. */
    ZEROED,
    /** All of it is there, but for a bit. */
    FLIPPED
  }

  /** Each page for itself. */
  public Loss(long seed) {
    this(seed, false);
  }

  /** The same cut of another item. */
  public Loss mixed(long item) {
    return new Loss(mix(seed, item), byFile);
  }

  Fate fate(long file) {
    Fate[] fates = Fate.values();
    return byFile ? fates[choose(fates.length, Sort.FATE, file)] : Fate.BY_PAGE;
  }

  /** What may be lost. */
  enum Sort {
    LINE,
    WORD,
    PAGE,
    SECTOR,
    SIZE,
    ATTRIBUTE,
    ENTRY,
    FATE
  }

  /** A number that two others lead to, and hardly any other two. */
  public static long mix(long one, long other) {
    long z = one * 0x9E3779B97F4A7C15L + other + 0x632BE59BD9B4E019L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  private long of(Sort sort, long item) {
    return mix(mix(seed, sort.name().hashCode()), item);
  }

  /** Whether an item reached the medium. */
  boolean keeps(Sort sort, long item) {
    double share = SHARES[(int) (of(sort, Long.MIN_VALUE) >>> 61)];
    return (of(sort, item) >>> 11) * 0x1.0p-53 < share;
  }

  /** One in {@code n}. */
  boolean oneIn(int n, Sort sort, long item) {
    return Long.remainderUnsigned(of(sort, ~item), n) == 0;
  }

  /** A number below {@code n}. */
  int choose(int n, Sort sort, long item) {
    return (int) Long.remainderUnsigned(of(sort, item ^ 0x5555555555555555L), n);
  }
}
