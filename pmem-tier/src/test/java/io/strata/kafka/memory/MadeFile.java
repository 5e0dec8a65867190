package io.strata.kafka.memory;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes files for memories, for tests. */
public final class MadeFile {
  private MadeFile() {}

  /** Creates a file of zeros with all of its blocks, as a pool's is. */
  @CanIgnoreReturnValue
  public static Path of(Path file, long size) throws IOException {
    Path made = Files.createFile(file, PoolFiles.ownerOnly(file));
    PoolFiles.extend(made, size, ProgressListener.NONE);
    return made;
  }
}
