package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One object stands for a segment, whichever thread opens it or asks for it, and whenever. */
final class OneObjectPerSegmentTest {

  private static final long MIB = 1 << 20;
  private static final int SLOW = 1;
  private static final int LOG_DIRS = 2;

  /** As many as there are slots, nearly: without one, a segment is in the log file. */
  private static final int CREATIONS = 120;

  private static final int EVICTIONS = 60;
  private static final byte[] OLD = Batches.of(700_000, 1);
  private static final byte[] NEW = Batches.of(100_000, 2);

  @TempDir private Path directory;
  private TierFixture fixture;

  @BeforeEach
  void open() throws IOException {
    fixture = TierFixture.twoTiers(directory, 16 * MIB);
    fixture.open();
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private FileChannel openAsKafka(Path file) throws IOException {
    return fixture.tier().open(file, TierFixture.KAFKA).orElseThrow();
  }

  /** Asks for a file's size over and over, as a monitoring agent does with a walk of the disk. */
  private final class Asker implements AutoCloseable {

    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final CompletableFuture<Void> asking;
    private volatile Path asked;
    private volatile boolean stopped;

    Asker(Path first) {
      asked = first;
      asking = CompletableFuture.runAsync(this::askUntilStopped, thread);
    }

    private void askUntilStopped() {
      try {
        while (!stopped) {
          assertThat(fixture.tier().size(asked)).isNotNull();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void ask(Path file) {
      asked = file;
    }

    /** Fails if an answer was an exception. */
    @Override
    public void close() {
      stopped = true;
      try {
        assertThat(asking.join()).isNull();
      } finally {
        thread.shutdownNow();
      }
    }
  }

  @Test
  void segmentThatIsAskedForWhileItIsCreated() throws Exception {
    try (Asker asker = new Asker(fixture.segment("orders-0", 0))) {
      for (int i = 0; i < CREATIONS; i++) {
        Path file = fixture.segment("orders-0", i);
        asker.ask(file);
        try (FileChannel channel = openAsKafka(file)) {
          assertThat(channel.write(ByteBuffer.wrap(NEW, 0, 1000), 0)).isEqualTo(1000);
          assertThat(fixture.tier().size(file)).as(file.toString()).hasValue(1000);
        }
      }
    }
  }

  /** A channel that is opened while a move copies, after the last one was closed. */
  @Test
  void segmentThatIsOpenedAnewWhileItIsPromoted() throws Exception {
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, OLD);
    fixture.append(fixture.segment("orders-0", 1000), NEW);
    assertDone(fixture.destage(file, LOG_DIRS));
    FileChannel before = openAsKafka(file);
    assertDone(fixture.evict(file));
    List<FileChannel> opened = new ArrayList<>();
    fixture.hook =
        stage -> {
          if (stage == MoveStage.RELOCATE_COPIED && opened.isEmpty()) {
            try {
              before.close();
              opened.add(openAsKafka(file));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
    assertDone(fixture.promote(file, 0));
    assertThat(opened).hasSize(1);
    try (FileChannel channel = opened.get(0)) {
      assertThat(channel.write(ByteBuffer.wrap(NEW), OLD.length)).isEqualTo(NEW.length);
    }
    byte[] all = Arrays.copyOf(OLD, OLD.length + NEW.length);
    System.arraycopy(NEW, 0, all, OLD.length, NEW.length);
    assertThat(fixture.read(file)).isEqualTo(all);
  }

  @Test
  void segmentThatIsAskedForWhileItGoesLogFileAndBack() throws Exception {
    assertAnswersWhileMoving(LOG_DIRS);
  }

  @Test
  void segmentThatIsAskedForWhileItGoesToALowerPoolAndBack() throws Exception {
    assertAnswersWhileMoving(SLOW);
  }

  private void assertAnswersWhileMoving(int below) throws Exception {
    Path old = fixture.segment("orders-0", 0);
    Path newer = fixture.segment("orders-0", 1000);
    fixture.append(old, OLD);
    fixture.append(newer, NEW);
    try (FileChannel channel = openAsKafka(old);
        FileChannel active = openAsKafka(newer)) {
      if (below != SLOW) {
        assertDone(fixture.destage(old, below));
      }
      try (Asker asker = new Asker(old)) {
        assertThat(asker).isNotNull();
        for (int i = 0; i < EVICTIONS; i++) {
          assertDone(below == SLOW ? fixture.destage(old, SLOW) : fixture.evict(old));
          assertDone(fixture.promote(old, 0));
          assertThat(fixture.tier().tieredSegments().state().segments()).hasSize(2);
        }
      }
      assertThat(TierFixture.content(channel)).isEqualTo(OLD);
      assertThat(active.size()).isEqualTo(NEW.length);
    }
  }

  @Test
  void emptyFileThatIsOpenInLogFileStaysThereForASecondOpening() throws Exception {
    Path[] large = {fixture.segment("large-0", 0), fixture.segment("large-1", 0)};
    for (Path file : large) {
      fixture.append(file, new byte[(int) (16 * MIB)]);
    }
    Path late = fixture.segment("late-0", 0);
    try (FileChannel channel = openAsKafka(late)) {
      assertThat(SegmentTag.read(late)).isEmpty();
      assertThat(fixture.tier().delete(large[0])).isTrue();
      Awaitility.await().until(() -> fixture.tier().pools().get(0).usage().freeBytes() > 8 * MIB);
      try (FileChannel second = openAsKafka(late)) {
        assertThat(channel.write(ByteBuffer.wrap(NEW), 0)).isEqualTo(NEW.length);
        assertThat(TierFixture.content(second)).isEqualTo(NEW);
      }
    }
    fixture.reopen();
    assertThat(fixture.read(late)).isEqualTo(NEW);
  }

  @Test
  void futureReplicaIsFollowedAfterTheSwap() throws Exception {
    Path future = fixture.partition("orders-0.0123456789abcdef0123456789abcdef-future");
    Path current = fixture.logs().resolve("orders-0");
    String name = "00000000000000000000.log";
    assertFollowed(
        future.resolve(name),
        current.resolve(name),
        () -> {
          if (!fixture.tier().move(future, current, StandardCopyOption.ATOMIC_MOVE)) {
            Files.move(future, current);
          }
        });
  }

  @Test
  void whatCompactionWritesIsFollowedAfterItsRename() throws Exception {
    Path segment = fixture.segment("orders-0", 0);
    Path swap = segment.resolveSibling(segment.getFileName() + ".swap");
    Path cleaned = segment.resolveSibling(segment.getFileName() + ".cleaned");
    assertFollowed(
        cleaned,
        segment,
        () -> {
          rename(cleaned, swap);
          rename(swap, segment);
        });
  }

  private void rename(Path from, Path to) throws IOException {
    if (!fixture.tier().move(from, to, StandardCopyOption.ATOMIC_MOVE)) {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** What becomes a segment by a rename, with a channel open, is that segment's for all others. */
  private void assertFollowed(Path before, Path after, TierFixture.Step rename) throws Exception {
    try (FileChannel kafka = openAsKafka(before)) {
      assertThat(kafka.write(ByteBuffer.wrap(OLD), 0)).isEqualTo(OLD.length);
      rename.run();
      try (FileChannel reader =
          fixture.tier().open(after, Set.of(StandardOpenOption.READ)).orElseThrow()) {
        assertThat(kafka.write(ByteBuffer.wrap(NEW), OLD.length)).isEqualTo(NEW.length);
        assertThat(reader.size()).isEqualTo(OLD.length + NEW.length);
        fixture.append(after.resolveSibling("00000000000000001000.log"), NEW);
        assertDone(fixture.promote(after, 0));
        kafka.truncate(OLD.length);
        assertThat(TierFixture.content(reader)).isEqualTo(OLD);
      }
    }
    fixture.reopen();
    assertThat(fixture.read(after)).isEqualTo(OLD);
  }

  @Test
  void segmentThatIsWrittenPastItsChannelsStaysInLogFile() throws Exception {
    Path old = fixture.segment("orders-0", 0);
    fixture.append(old, OLD);
    fixture.append(fixture.segment("orders-0", 1000), NEW);
    assertDone(fixture.destage(old, LOG_DIRS));
    try (FileChannel channel = openAsKafka(old)) {
      assertDone(fixture.evict(old));
      Files.write(old, NEW, StandardOpenOption.APPEND);
      assertThatThrownBy(() -> fixture.promote(old, 0))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("found " + (OLD.length + NEW.length) + " bytes");
      assertThat(SegmentTag.read(old)).isEmpty();
      assertThat(channel.isOpen()).isTrue();
    }
    byte[] expected = Arrays.copyOf(OLD, OLD.length + NEW.length);
    System.arraycopy(NEW, 0, expected, OLD.length, NEW.length);
    fixture.reopen();
    assertThat(fixture.tier().size(old).orElse(Files.size(old))).isEqualTo(expected.length);
    assertThat(Files.readAllBytes(old)).isEqualTo(expected);
  }
}
