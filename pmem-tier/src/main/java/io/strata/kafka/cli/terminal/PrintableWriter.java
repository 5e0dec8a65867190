package io.strata.kafka.cli.terminal;

import io.strata.kafka.memory.calls.Printable;
import java.io.PrintWriter;

/**
 * Prints without the control characters that a terminal would obey: names come from pools, stores
 * and attributes that others may have written.
 *
 * <p>Thread safety: as {@link PrintWriter}.
 */
public final class PrintableWriter extends PrintWriter {

  /** Moves to the top of the screen and clears it: the one thing of the kind that is ours. */
  public static final String CLEAR = "\u001b[H\u001b[2J";

  public PrintableWriter(PrintWriter to) {
    super(to, true);
  }

  @Override
  public void write(String text, int offset, int length) {
    String part = text.substring(offset, offset + length);
    String shown = part.equals(CLEAR) ? part : Printable.lines(part);
    super.write(shown, 0, shown.length());
  }

  @Override
  public void write(char[] characters, int offset, int length) {
    write(new String(characters, offset, length), 0, length);
  }

  @Override
  public void write(int character) {
    write(String.valueOf((char) character), 0, 1);
  }
}
