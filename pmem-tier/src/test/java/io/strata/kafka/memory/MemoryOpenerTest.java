package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.calls.LibPmem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MemoryOpenerTest {

  @Test
  void theTypesOfTheJdkAreAlwaysThere() {
    assertThat(MemoryOpener.unavailable(MemoryType.MAPPED)).isEmpty();
    assertThat(MemoryOpener.unavailable(MemoryType.FILE)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"true, true, PMEM", "true, false, MAPPED", "false, true, FILE", "false, false, FILE"})
  void autoIsLibpmemOnDaxAMappingWithoutItAndAFileOnABlockDevice(
      boolean dax, boolean libpmem, MemoryType type) {
    assertThat(MemoryOpener.fitting(dax, libpmem)).isEqualTo(type);
  }

  @Test
  void autoIsAMappingInMemory(@TempDir(factory = MemoryDirectory.OnTmpfs.class) Path directory)
      throws IOException {
    assertThat(MemoryOpener.fitting(Files.write(directory.resolve("x"), new byte[4096])))
        .isEqualTo(MemoryType.MAPPED);
  }

  @Test
  void autoLooksAtTheFileSystem(@TempDir(factory = MemoryDirectory.OnDisk.class) Path directory)
      throws IOException {
    Path file = Files.write(directory.resolve("x"), new byte[4096]);
    boolean libpmem = MemoryOpener.unavailable(MemoryType.PMEM).isEmpty();
    assertThat(MemoryOpener.fitting(file))
        .isEqualTo(MemoryOpener.fitting(FileProbe.isDax(file), libpmem));
  }

  /** Whatever opens it then says what is wrong. */
  @Test
  void autoIsAMappingWhereThereIsNoFile(
      @TempDir(factory = MemoryDirectory.OnDisk.class) Path directory) {
    assertThat(MemoryOpener.fitting(directory.resolve("none"))).isEqualTo(MemoryType.MAPPED);
    assertThat(MemoryOpener.fitting(directory)).isEqualTo(MemoryType.MAPPED);
  }

  @Test
  void aMissingLibraryIsNamedWithWhatToInstall() {
    assertThat(LibPmem.missing(List.of("libnowhere.so.1")).orElseThrow())
        .contains("libnowhere.so.1")
        .contains("libpmem1");
  }
}
