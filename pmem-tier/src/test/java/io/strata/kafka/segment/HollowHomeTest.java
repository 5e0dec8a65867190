package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotFlag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A home that does not count any more loses its head before the segment is changed. */
final class HollowHomeTest {

  private static final int LENGTH = 1000;

  @TempDir private Path directory;

  @Test
  void changeThatCannotTakeTheHeadIsRefusedAndTheNextOneTakesIt() throws Exception {
    HeapFile home = new HeapFile();
    try (TinyPool pool = TinyPool.create(directory.resolve("a.pool"))) {
      Slot slot = pool.allocate("orders-0/x.log");
      Segment segment =
          new Segment(
              slot,
              pool.pool(),
              0,
              new SegmentSettings(false, InstantSource.system()),
              SegmentEvents.NONE);
      try (FileChannel channel =
          segment.open(home.open(), Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE))) {
        destage(segment, channel, home);
        home.limit(0);
        assertThatThrownBy(() -> channel.truncate(LENGTH / 2)).isInstanceOf(IOException.class);
        assertThat(slot.has(SlotFlag.CLEAN)).isFalse();
        assertThat(channel.size()).isEqualTo(LENGTH);
        assertThat(home.content()[0]).isEqualTo((byte) 7);

        home.limit(Long.MAX_VALUE);
        assertThat(channel.truncate(LENGTH / 2).size()).isEqualTo(LENGTH / 2);
        assertThat(Arrays.copyOf(home.content(), HomeHead.LENGTH)).containsOnly(0);
      }
    }
  }

  private static void destage(Segment segment, FileChannel channel, HeapFile home)
      throws IOException {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, (byte) 7);
    assertThat(channel.write(ByteBuffer.wrap(bytes))).isEqualTo(LENGTH);
    try (FileChannel copy = home.open()) {
      assertThat(segment.markClean(segment.copyHomeAsItIs(copy))).isTrue();
    }
    assertThat(home.content()).isEqualTo(bytes);
  }
}
