package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.SlotFlag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who is told of a truncation sees to it that home's tag does not outlive home's bytes. */
final class TruncationNoticeTest {

  @Test
  void anEvictionAfterTheNoticeBringsAnotherOne() throws Exception {
    TinyPool pool = TinyPool.format(new RecordingMemory(4 << 20, Durability.POWER));
    HeapFile home = new HeapFile();
    List<Boolean> toldAtHome = new ArrayList<>();
    SegmentGuard guard =
        new SegmentGuard() {
          @Override
          public void truncating(Segment segment, long length) throws IOException {
            toldAtHome.add(segment.residence().isEmpty());
            if (toldAtHome.size() == 1) {
              assertThat(segment.evict(true)).isPresent();
            }
          }
        };
    Segment segment =
        new Segment(
            new Residence(pool.allocate("segment"), pool.pool()),
            0,
            0,
            new SegmentSettings(false, InstantSource.system()),
            SegmentEvents.NONE,
            guard);
    FileChannel channel =
        segment.open(home.open(), Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
    assertThat(channel.write(ByteBuffer.wrap(new byte[1000]), 0)).isEqualTo(1000);
    try (FileChannel copy = home.open()) {
      CopyResult copied = segment.copying().copyHome(copy, CopyPace.FREE, true);
      assertThat(segment.markClean(copied)).isTrue();
    }
    assertThat(segment.residence().orElseThrow().slot().has(SlotFlag.CLEAN)).isTrue();

    channel.truncate(0);

    assertThat(toldAtHome).containsExactly(false, true);
    assertThat(home.size()).isZero();
  }
}
