package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryOpenerTest {

  @Test
  void theTypesOfTheJdkAreAlwaysThere() {
    assertThat(MemoryOpener.unavailable(MemoryType.MAPPED)).isEmpty();
    assertThat(MemoryOpener.unavailable(MemoryType.FILE)).isEmpty();
  }

  @Test
  void aMissingLibraryIsNamedWithWhatToInstall() {
    assertThat(LibPmem.missing(List.of("libnowhere.so.1")).orElseThrow())
        .contains("libnowhere.so.1")
        .contains("libpmem1");
  }
}
