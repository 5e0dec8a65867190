package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PmemMemoryTest {

  @Nested
  class OnTmpfs extends Contract {
    @TempDir(factory = MemoryDirectory.OnTmpfs.class)
    Path directory;

    @Override
    Path directory() {
      return directory;
    }
  }

  @Nested
  class OnDisk extends Contract {
    @TempDir(factory = MemoryDirectory.OnDisk.class)
    Path directory;

    @Override
    Path directory() {
      return directory;
    }
  }

  abstract static class Contract extends FileBackedContract {
    Contract() {
      super(MemoryType.PMEM);
    }

    @Test
    void zeroingAboveWhereTheFileWasTruncatedIsAnIOException() throws IOException {
      fails(position -> memory().zero(position, 163_840));
    }
  }
}
