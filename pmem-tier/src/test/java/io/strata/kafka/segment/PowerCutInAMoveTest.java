package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.Slot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The power goes in moves of flushed segments, in pools that need a force. */
final class PowerCutInAMoveTest {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final int CUTS = 60;

  private static Segment segment(Slot slot, TinyPool pool, long homeSize) {
    return new Segment(
        slot,
        pool.pool(),
        homeSize,
        new SegmentSettings(false, InstantSource.system()),
        SegmentEvents.NONE);
  }

  private static byte[] read(Segment segment, HeapFile home) throws IOException {
    try (FileChannel channel = segment.open(home.open(), Set.of(StandardOpenOption.READ))) {
      ByteBuffer all = ByteBuffer.allocate((int) channel.size());
      int read = 0;
      while (all.hasRemaining() && read >= 0) {
        read = channel.read(all, all.position());
      }
      return all.array();
    }
  }

  /** Without a zero, which a power cut leaves. */
  private static byte[] content(int length) {
    byte[] bytes = new byte[length];
    new Random(5).nextBytes(bytes);
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] |= 1;
    }
    return bytes;
  }

  /** Nobody has forced the segment: the copy is durable before anything names it. */
  @Test
  void aRelocatedSegmentIsDurableWhereItIs() throws Exception {
    RecordingMemory target = new RecordingMemory(4 << 20, Durability.FORCE);
    TinyPool targetPool = TinyPool.format(target);
    TinyPool pool = TinyPool.format(new RecordingMemory(4 << 20, Durability.FORCE));
    HeapFile home = new HeapFile();
    Segment segment = segment(pool.allocate("segment"), pool, 0);
    byte[] bytes = content(500_000);
    FileChannel channel = segment.open(home.open(), READ_WRITE);
    assertThat(channel.write(ByteBuffer.wrap(bytes), 0)).isEqualTo(bytes.length);
    Slot slot = targetPool.allocate("copy");
    Residence to = new Residence(slot, targetPool.pool());
    CopyResult copied;
    try (FileChannel copy = home.open()) {
      copied = segment.copying().copyInto(to, copy, CopyPace.FREE, true);
    }
    List<RecordingMemory> left = new ArrayList<>();
    Segment.Link link =
        new PlainLink(
            () -> {
              for (int i = 0; i < CUTS; i++) {
                left.add(target.crash(new Random(i)));
              }
            });
    assertThat(segment.relocate(copied, to, link)).isTrue();
    assertThat(left).hasSize(CUTS);
    for (RecordingMemory each : left) {
      TinyPool again = TinyPool.openAfterPowerCut(each);
      Slot found = again.pool().slot(slot.index(), slot.generation()).orElseThrow();
      assertThat(read(segment(found, again, home.size()), home)).isEqualTo(bytes);
    }
  }
}
