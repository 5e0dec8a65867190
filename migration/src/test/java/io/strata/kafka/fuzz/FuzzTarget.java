package io.strata.kafka.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Something that reads bytes of unknown origin, and what it promises whatever they are.
 *
 * <p>An implementation has a constructor without parameters, keeps nothing between two inputs that
 * would make the second one depend on the first, and is used by one thread.
 */
public interface FuzzTarget {

  /** Names the corpus: a directory below {@code fuzz/} of the test resources. */
  String name();

  /**
   * Reads an input. Refusals of the right kind are caught in here.
   *
   * @throws Exception or an {@link AssertionError} if a promise is broken
   */
  void run(byte[] input) throws Exception;

  /** Inputs that are as they should be, to begin from. */
  List<byte[]> seeds() throws Exception;

  /** Words that a mutation may put anywhere. */
  default List<String> words() {
    return List.of();
  }

  /** The most bytes that one input may make it allocate. */
  default long mostAllocated() {
    return 16L << 20;
  }

  /** The longest input that is of use. */
  default int longest() {
    return 4096;
  }

  /** Whether a message is one line: what has a line end in it forges lines of a log. */
  static boolean isFitForALog(Throwable refusal) {
    return String.valueOf(refusal.getMessage()).chars().noneMatch(Character::isISOControl);
  }

  /** Text as an input. */
  static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** An input as text, whatever it is. */
  static String text(byte[] input) {
    return new String(input, StandardCharsets.UTF_8);
  }
}
