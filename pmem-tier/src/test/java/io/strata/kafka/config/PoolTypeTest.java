package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.MemoryDirectory;
import io.strata.kafka.memory.MemoryType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PoolTypeTest {

  @Test
  void onlyAMappingThatIsNamedMayBeInMemory(
      @TempDir(factory = MemoryDirectory.OnTmpfs.class) Path memory) throws IOException {
    Path present = Files.createFile(memory.resolve("present"));
    for (Path file : new Path[] {present, memory.resolve("to-be-made")}) {
      assertThat(PoolType.AUTO.refusal(file).orElseThrow())
          .contains("found a file system in the machine's memory (tmpfs)")
          .contains("restart of the machine")
          .contains("strata.pool.type=mapped");
      assertThat(PoolType.of(MemoryType.FILE).refusal(file)).isPresent();
      assertThat(PoolType.of(MemoryType.MAPPED).refusal(file)).isEmpty();
    }
  }

  @Test
  void anyTypeMayBeOnADisk(@TempDir(factory = MemoryDirectory.OnDisk.class) Path disk) {
    assertThat(PoolType.AUTO.refusal(disk.resolve("pool"))).isEmpty();
    assertThat(PoolType.AUTO.refusal(disk.resolve("away/pool"))).isEmpty();
  }
}
