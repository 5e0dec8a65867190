package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.CrashError;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The power goes in moves of flushed segments, in pools that need a force. */
final class PowerCutInAMoveTest {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final int CUTS = 60;

  private static Segment segment(Slot slot, TinyPool pool, long logFileSize) {
    return new Segment(
        slot,
        pool.pool(),
        logFileSize,
        new SegmentSettings(false, InstantSource.system()),
        SegmentEvents.NONE);
  }

  private static byte[] read(Segment segment, HeapFile logFile) throws IOException {
    try (FileChannel channel = segment.open(logFile.open(), Set.of(StandardOpenOption.READ))) {
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

  /** The segment was not forced: the copy is durable before anything names it. */
  @Test
  void aRelocatedSegmentIsDurableWhereItIs() throws Exception {
    RecordingMemory target = new RecordingMemory(4 << 20, Durability.FORCE);
    TinyPool targetPool = TinyPool.format(target);
    TinyPool pool = TinyPool.format(new RecordingMemory(4 << 20, Durability.FORCE));
    HeapFile logFile = new HeapFile();
    Segment segment = segment(pool.allocate("segment"), pool, 0);
    byte[] bytes = content(500_000);
    FileChannel channel = segment.open(logFile.open(), READ_WRITE);
    assertThat(channel.write(ByteBuffer.wrap(bytes), 0)).isEqualTo(bytes.length);
    Slot slot = targetPool.allocate("copy");
    Residence to = new Residence(slot, targetPool.pool());
    CopyResult copied;
    try (FileChannel copy = logFile.open()) {
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
      assertThat(read(segment(found, again, logFile.size()), logFile)).isEqualTo(bytes);
    }
  }

  /** Each append is durable when it returns, in the log file or in the pool. */
  @Test
  void aSegmentThatGoesOnInItsPoolLosesNothingThatWasForced() throws Exception {
    boolean crashed = true;
    for (int point = 1; crashed; point++) {
      crashed = new Unspill().cutAt(point);
    }
  }

  /** A spilled segment that is appended to each time that its log file has been forced. */
  private static final class Unspill {
    private final RecordingMemory memory = new RecordingMemory(4 << 20, Durability.FORCE);
    private final TinyPool pool = TinyPool.format(memory);
    private final HeapFile logFile = new HeapFile();
    private final Slot slot = pool.allocate("segment");
    private final Segment segment =
        new Segment(
            slot,
            pool.pool(),
            0,
            new SegmentSettings(true, InstantSource.system()),
            SegmentEvents.NONE);
    private final FileChannel channel = segment.open(logFile.open(), READ_WRITE);
    private final byte[] all = content(300_000);

    /** What was written and came back; the segment is asked nothing. */
    private int acknowledged;

    Unspill() throws IOException {
      pool.leaveFree(1);
      append(100_000);
      channel.force(true);
      try (FileChannel file = logFile.open()) {
        assertThat(segment.markClean(segment.copyToLogFileAsItIs(file))).isTrue();
      }
      pool.leaveFree(16);
    }

    private void append(int length) throws IOException {
      int from = acknowledged;
      assertThat(channel.write(ByteBuffer.wrap(all, from, length), from)).isEqualTo(length);
      acknowledged = from + length;
    }

    private void appendAfterEachForce() {
      logFile.afterForce(
          () -> {
            try {
              append(10_000);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            appendAfterEachForce();
          });
    }

    boolean cutAt(int point) throws IOException {
      boolean crashed = false;
      appendAfterEachForce();
      memory.crashBefore(memory.persistPoints() + point);
      try (FileChannel file = logFile.open()) {
        assertThat(segment.unspill(file, () -> file.force(true))).isTrue();
      } catch (CrashError e) {
        crashed = true;
      }
      assertThat(segment.size()).isGreaterThanOrEqualTo(acknowledged);
      byte[] expected = Arrays.copyOf(all, (int) segment.size());
      for (int i = 0; i < CUTS; i++) {
        TinyPool again = TinyPool.openAfterPowerCut(memory.crash(new Random(i)));
        HeapFile left = logFile.crash(new Random(i));
        Slot found = again.pool().slot(slot.index(), slot.generation()).orElseThrow();
        if (!found.has(SlotFlag.SPILLED)) {
          try (FileChannel file = left.open()) {
            FileChannel unused = file.truncate(found.cleanLength());
          }
        }
        assertThat(read(segment(found, again, left.size()), left))
            .as("cut before point %s, loss %s", point, i)
            .isEqualTo(expected);
      }
      return crashed;
    }
  }
}
