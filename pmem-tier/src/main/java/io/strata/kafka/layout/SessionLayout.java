package io.strata.kafka.layout;

/**
 * The session line: under which boot of the machine a pool was last written, and whether it was
 * closed. Only pools that need a {@code force} to survive a power failure use it, to know at the
 * next opening whether what was stored but not forced may be gone, and whether what lies outside of
 * the segments is known to be zeros.
 *
 * <pre>
 *          0       1       2       3       4       5       6       7
 *         +-------+-------+-------+-------+-------+-------+-------+-------+
 *       0 | state                                                         |
 *         +---------------------------------------------------------------+
 *       8 | boot id                                                       |
 *         +---------------------------------------------------------------+
 *      16
 * </pre>
 *
 * <p>Both are {@link CheckedWord}s. Commit: the boot id is stored, then the state, and both are
 * forced before the first slot is changed; at closing everything is forced, and then the state is
 * changed and forced.
 */
public final class SessionLayout {
  /** Position of the line in the pool. */
  public static final long POSITION = 8192;

  /** 8 bytes: {@link #STATE_CLOSED} or {@link #STATE_OPEN}. */
  public static final int STATE_OFFSET = 0;

  /** 8 bytes: a 48-bit digest of the boot id. */
  public static final int BOOT_ID_OFFSET = 8;

  /** Length of the line's used part. */
  public static final int LENGTH = 16;

  /** All that was stored is also forced: {@code SHUT} in ASCII. */
  public static final long STATE_CLOSED = 0x54554853L;

  /**
   * As {@link #STATE_CLOSED}, and all data but the segments' committed bytes is zeros: {@code ZERO}
   * in ASCII.
   */
  public static final long STATE_CLEARED = 0x4F52455AL;

  /** The pool is in use, or its writer has died: {@code OPEN} in ASCII. */
  public static final long STATE_OPEN = 0x4E45504FL;

  private SessionLayout() {}
}
