package io.strata.kafka.tier.durable;

import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * The modification time of a log file after a copy that has written below its end, as in the hole
 * of a spilled segment. Its length does not show such a copy, and programs that compare files by
 * length and time, {@code rsync} and backups, would keep what they have read before.
 */
public final class FillTime {

  private FillTime() {}

  /**
   * Returns a time in a later second than any that the file has shown: {@code rsync} compares
   * seconds.
   *
   * @param before the file's time before the copy
   * @param after its time after it, by the clock of its file system
   * @param now the end of the copy, by our clock
   */
  public static FileTime of(FileTime before, FileTime after, Instant now) {
    long shown = Math.max(before.to(TimeUnit.SECONDS), after.to(TimeUnit.SECONDS));
    return FileTime.from(Math.max(shown, now.getEpochSecond()) + 1, TimeUnit.SECONDS);
  }
}
