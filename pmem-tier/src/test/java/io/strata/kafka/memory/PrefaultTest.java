package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PrefaultTest {

  @Test
  void touchesWithoutChangeWhereTheKernelOffersNothing() throws IOException {
    int size = (3 << 20) + 5; // the last page has no whole word at its end
    RecordingMemory memory = new RecordingMemory(size);
    byte[] bytes = MemoryContract.random(size, 1);
    memory.storeAndPersist(0, ByteBuffer.wrap(bytes));
    List<Long> heard = new ArrayList<>();
    Prefault.run(memory, (done, total) -> heard.add(done));
    assertThat(MemoryContract.load(memory, 0, size)).isEqualTo(bytes);
    assertThat(heard).containsExactly((long) size);
  }
}
