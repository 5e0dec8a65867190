package io.strata.kafka.layout;

/** A {@link CheckedWord} whose check does not fit its value and its place. */
public final class CorruptWordException extends Exception {
  private static final long serialVersionUID = 1L;

  private final long position;
  private final String found;

  CorruptWordException(long position, long word, int expectedCheck) {
    this(
        position,
        "value %d with check 0x%04x, which would be 0x%04x"
            .formatted(
                word & CheckedWord.MAX_VALUE, word >>> CheckedWord.VALUE_BITS, expectedCheck));
  }

  private CorruptWordException(long position, String found) {
    super("word at " + position + ": " + found);
    this.position = position;
    this.found = found;
  }

  /** Returns where the word lies, in bytes from the start of the file. */
  public long position() {
    return position;
  }

  /** Returns the name of the word, for a message. */
  public String found() {
    return found;
  }
}
