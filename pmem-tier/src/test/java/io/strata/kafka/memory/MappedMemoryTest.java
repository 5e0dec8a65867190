package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedMemoryTest {

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
      super(MemoryType.MAPPED);
    }

    @Test
    void aStoreAboveWhereTheFileWasTruncatedIsAnIOException() throws IOException {
      ByteBuffer source = ByteBuffer.wrap(ones(163_840));
      fails(position -> memory().store(position, source.clear()));
      assertThat(source.position()).as("after a failed store").isZero();
      fails(position -> memory().storeAndPersist(position, source.clear()));
    }

    @Test
    void zeroingAboveWhereTheFileWasTruncatedIsAnIOException() throws IOException {
      fails(position -> memory().zero(position, 163_840));
    }
  }
}
