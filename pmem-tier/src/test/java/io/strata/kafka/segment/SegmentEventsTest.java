package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.segment.view.Residence;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Callbacks for metrics on the append and read paths. */
final class SegmentEventsTest {
  private static final int BLOCK = TinyPool.BLOCK;
  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  private final List<String> heard = new ArrayList<>();

  private final SegmentEvents events =
      new SegmentEvents() {
        @Override
        public void appended(long bytes, long nanos, long ended) {
          assertThat(nanos).isNotNegative();
          heard.add("appended " + bytes);
        }

        @Override
        public void read(long bytes, long nanos) {
          assertThat(nanos).isNotNegative();
          heard.add("read " + bytes);
        }

        @Override
        public void readInLogFile(long bytes) {
          heard.add("in the log file " + bytes);
        }

        @Override
        public void spilled(long bytes, boolean first) {
          heard.add((first ? "first spilled " : "spilled ") + bytes);
        }
      };

  @Test
  void tellsAppendsReadsAndSpills() throws IOException {
    RecordingMemory memory = new RecordingMemory(4 << 20);
    HeapFile logFile = new HeapFile();
    try (TinyPool pool = TinyPool.format(memory)) {
      pool.leaveFree(1);
      Segment segment = segment(pool, events);
      try (FileChannel channel = segment.open(logFile.open(), READ_WRITE)) {
        channel.write(ByteBuffer.allocate(BLOCK - 10));
        channel.write(ByteBuffer.allocate(30));
        channel.write(ByteBuffer.allocate(5));
        assertThat(heard)
            .containsExactly(
                "appended " + (BLOCK - 10),
                "first spilled 20",
                "appended 30",
                "spilled 5",
                "appended 5");

        heard.clear();
        channel.read(ByteBuffer.allocate(7), 0);
        channel.read(ByteBuffer.allocate(100), BLOCK - 50);
        channel.read(ByteBuffer.allocate(100), BLOCK + 20);
        channel.read(ByteBuffer.allocate(100), BLOCK + 25);
        assertThat(heard)
            .containsExactly(
                "read 7", "in the log file 25", "read 75", "in the log file 5", "read 5");

        heard.clear();
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        channel.transferTo(10, 20, Channels.newChannel(target));
        channel.transferTo(BLOCK + 5, 100, Channels.newChannel(target));
        assertThat(heard).containsExactly("read 20", "in the log file 20", "read 20");
        assertThat(target.size()).isEqualTo(40);
      }
    }
  }

  /**
   * A move into a pool between the notice of an append and the append: without another notice the
   * pool would get ahead of renames that a power failure undoes.
   */
  @Test
  void aMoveIntoAPoolAfterTheNoticeOfAnAppendBringsAnotherOne() throws Exception {
    List<String> noted = new ArrayList<>();
    List<Segment> segments = new ArrayList<>();
    HeapFile logFile = new HeapFile();
    try (TinyPool pool = TinyPool.format(new RecordingMemory(4 << 20))) {
      Residence to = new Residence(pool.allocate("t-0/copy"), pool.pool());
      SegmentEvents notices =
          new SegmentEvents() {
            @Override
            public void appending() throws IOException {
              if (!segments.isEmpty()) {
                Segment segment = segments.get(0);
                noted.add(segment.inPool() ? "in a pool" : "in the log file");
                if (!segment.inPool()) {
                  relocate(segment, to, logFile);
                }
              }
            }
          };
      Segment segment = segment(pool, notices);
      try (FileChannel channel = segment.open(logFile.open(), READ_WRITE)) {
        writeClean(segment, channel, logFile);
        assertThat(segment.evict(true)).isPresent();
        segments.add(segment);

        channel.write(ByteBuffer.allocate(10));

        assertThat(noted).containsExactly("in the log file", "in a pool");
        assertThat(channel.size()).isEqualTo(1010);
        assertThat(logFile.size()).isEqualTo(1000);
      }
    }
  }

  private static Segment segment(TinyPool pool, SegmentEvents events) throws IOException {
    return new Segment(
        pool.allocate("t-0/x.log"),
        pool.pool(),
        0,
        new SegmentSettings(false, InstantSource.system()),
        events);
  }

  /** Writes 1000 bytes, which the log file has, too. */
  private static void writeClean(Segment segment, FileChannel channel, HeapFile logFile)
      throws IOException {
    channel.write(ByteBuffer.allocate(1000));
    try (FileChannel copy = logFile.open()) {
      assertThat(segment.markClean(segment.copyToLogFileAsItIs(copy))).isTrue();
    }
  }

  private static void relocate(Segment segment, Residence to, HeapFile logFile) throws IOException {
    CopyResult copied;
    try (FileChannel copy = logFile.open()) {
      copied = segment.copying().copyInto(to, copy, CopyPace.FREE, true);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(segment.relocate(copied, to, PlainLink.NONE)).isTrue();
  }

  private interface Change {
    void make(FileChannel channel) throws IOException;
  }

  /**
   * An eviction between the notice and the change puts the slot's tag onto a log file that changes:
   * without another notice a start would take the file for an older copy.
   */
  @Test
  void anEvictionAfterTheNoticeOfAChangeBringsAnotherOne() throws IOException {
    assertNotedAgain(channel -> channel.truncate(100));
    assertNotedAgain(channel -> channel.write(ByteBuffer.allocate(10)));
    assertNotedAgain(channel -> channel.write(ByteBuffer.allocate(10), 50));
  }

  private static void assertNotedAgain(Change change) throws IOException {
    List<Segment> evicted = new ArrayList<>();
    List<String> noted = new ArrayList<>();
    SegmentEvents notices =
        new SegmentEvents() {
          @Override
          public void truncating() throws IOException {
            appending();
          }

          @Override
          public void appending() throws IOException {
            if (!evicted.isEmpty()) {
              boolean first = noted.isEmpty();
              noted.add("a change " + (evicted.get(0).residence().isPresent() ? "in" : "behind"));
              assertThat(evicted.get(0).evict(true).isPresent()).isEqualTo(first);
            }
          }

          @Override
          public void left(Residence in) {
            // Whoever finds it in its log file comes later.
            noted.add("left, seen " + (evicted.get(0).residence().isPresent() ? "in" : "behind"));
          }
        };
    HeapFile logFile = new HeapFile();
    try (TinyPool pool = TinyPool.format(new RecordingMemory(4 << 20))) {
      Segment segment = segment(pool, notices);
      try (FileChannel channel = segment.open(logFile.open(), READ_WRITE)) {
        writeClean(segment, channel, logFile);
        evicted.add(segment);

        change.make(channel);

        assertThat(noted).containsExactly("a change in", "left, seen in", "a change behind");
        assertThat(logFile.size()).isEqualTo(channel.size());
      }
    }
  }
}
