package io.strata.kafka.cli.terminal;

import io.strata.kafka.memory.ProgressListener;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** A progress bar on standard error while something long runs; nothing if that is no terminal. */
public final class Progress implements ProgressListener, AutoCloseable {
  private static final int WIDTH = 80;
  private static final long MIB = 1 << 20;

  private final @Nullable ProgressBar bar;

  private Progress(@Nullable ProgressBar bar) {
    this.bar = bar;
  }

  /** Shows a bar on {@code target}. */
  public static Progress on(PrintStream target, String task) {
    return new Progress(
        new ProgressBarBuilder()
            .setTaskName(task)
            .setStyle(ProgressBarStyle.ASCII)
            .setUnit(" MiB", MIB)
            .setInitialMax(0)
            .setConsumer(new ConsoleProgressBarConsumer(target, WIDTH))
            .clearDisplayOnFinish()
            .build());
  }

  public static Progress onTerminal(String task) {
    return isTerminal(2) ? on(System.err, task) : new Progress(null);
  }

  /**
   * Returns whether a descriptor is a terminal. The JDK says only whether standard input and output
   * both are, and from release 22 on not even that simply.
   */
  public static boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false; // No /proc here: rather plain text than escapes in a log file.
    }
  }

  @Override
  public void progress(long done, long total) {
    if (bar != null) {
      bar.maxHint(total);
      bar.stepTo(done);
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
