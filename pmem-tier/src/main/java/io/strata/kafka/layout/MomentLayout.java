package io.strata.kafka.layout;

/**
 * A moment: when a pool and one log directory were last used together, as the pool has it. The log
 * directory has the same in an extended attribute.
 *
 * <pre>
 *          0       1       2       3       4       5       6       7
 *         +-------+-------+-------+-------+-------+-------+-------+-------+
 *       0 | directory id                                                  |
 *         +---------------------------------------------------------------+
 *      16 | last                                                          |
 *         +---------------------------------------------------------------+
 *      24 | next                                                          |
 *         +---------------------------------------------------------------+
 *      32
 * </pre>
 *
 * <p>Last and next are {@link CheckedWord}s, whose salt is that of the pool and the directory's id;
 * an entry whose next is a plain zero is not in use. Commit, each step forced before the next: the
 * directory's id and last, once; then next; then the log directory has next; then last is next. So
 * the log directory has one of the two, and where they are equal it has that.
 */
public final class MomentLayout {
  /** Position of the first entry in the pool: behind the session line, in its page. */
  public static final long POSITION = SessionLayout.POSITION + 64;

  /** 16 bytes: UUID of the log directory, its more significant word first. */
  public static final int DIRECTORY_ID_OFFSET = 0;

  /** Bytes of the UUID. */
  public static final int DIRECTORY_ID_LENGTH = 16;

  /** 8 bytes: the last moment that the log directory is known to have; 0 before the first. */
  public static final int LAST_OFFSET = 16;

  /** 8 bytes: the moment that the log directory is given, or has been given; 1 for none. */
  public static final int NEXT_OFFSET = 24;

  /** Length of an entry. */
  public static final int LENGTH = 32;

  /** So many entries there are: up to the slot table. */
  public static final int COUNT = (int) ((SlotLayout.TABLE - POSITION) / LENGTH);

  private MomentLayout() {}

  /** The position of an entry. */
  public static long position(int index) {
    return POSITION + (long) index * LENGTH;
  }
}
