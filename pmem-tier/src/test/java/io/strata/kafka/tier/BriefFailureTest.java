package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.crash.Call;
import io.strata.kafka.crash.FailingFiles;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.NewestLogFiles;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.start.MissingPools;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A disk that cannot say for a moment what a file is: nothing is made, replaced or removed because
 * of that. Each such question of an operation fails in turn, alone and with those after it.
 */
class BriefFailureTest {

  private static final byte[] RECORDS = Batches.of(300_000, 1);
  private static final byte[] MORE = Batches.of(100_000, 2);
  private static final int LOG_FILE = 1;

  @TempDir private Path temp;

  private static final int MOST_FAILURES = 3;

  /** The files that are asked about, and fail. */
  private Predicate<Path> asked = file -> true;

  /** The questions so far. */
  private final AtomicInteger questions = new AtomicInteger();

  /** The first question that fails, and the first after it that does not. */
  private volatile int from;

  private volatile int to;

  private final FileSystem failing =
      new FailingFiles(
              FileSystems.getDefault(),
              (call, on, bytes) -> {
                if (call == Call.STATUS && asked.test(Path.of(on))) {
                  int question = questions.incrementAndGet();
                  if (question >= from && question < to) {
                    throw new IOException("Input/output error");
                  }
                }
                return bytes;
              })
          .files();

  private TierFixture fixture;
  private int failures;

  private interface Operation {
    void run() throws IOException;
  }

  private interface Check {
    void run(int question) throws IOException;
  }

  @BeforeEach
  void createPool() throws IOException {
    fixture = new TierFixture(temp).pool("hot.pool", 16 << 20);
    fixture.logDirectories.set(0, failing.getPath(fixture.logs().toString()));
    Files.writeString(fixture.logs().resolve(MetaProperties.FILE_NAME), "version=1\n");
  }

  @AfterEach
  void close() throws IOException {
    to = 0;
    fixture.close();
    assertThat(failures).isPositive();
  }

  /** Has the first question of the operation fail, then the second one, until all have. */
  private void whateverFails(Operation operation, Check check) throws IOException {
    for (int most = 1; most <= MOST_FAILURES; most++) {
      boolean failed = true;
      for (int question = 1; failed; question++) {
        from = questions.get() + question;
        to = from + most;
        try {
          operation.run();
        } catch (IOException refused) {
          // It says so, here or to the log.
        }
        failed = questions.get() >= from;
        to = 0;
        check.run(question);
        failures += failed ? 1 : 0;
      }
    }
  }

  @Test
  void aLogFileIsNotTakenForANewOne() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    Files.write(file, RECORDS);
    fixture.open();
    whateverFails(
        () -> {
          Optional<FileChannel> opened = fixture.tier().open(file, TierFixture.KAFKA);
          if (opened.isPresent()) {
            opened.get().close();
          }
        },
        question -> {
          assertThat(fixture.read(file)).as("question %s", question).isEqualTo(RECORDS);
          assertThat(SegmentTag.read(file)).as("question %s", question).isEmpty();
        });
  }

  @Test
  void aPoolIsNotCreatedAnew() throws IOException {
    fixture.open();
    fixture.append(fixture.segment("orders-0", 0), RECORDS);
    fixture.close();
    Path pool = fixture.pools.get(0);
    byte[] before = Files.readAllBytes(pool);
    fixture.pools.set(0, failing.getPath(pool.toString()));
    asked = pool::equals;
    fixture.extra = Map.of("strata.pool.create", String.valueOf(before.length));
    // As a new broker has it: nothing here says that there was a pool.
    fixture.logDirectories.set(0, Files.createDirectory(fixture.logs().resolveSibling("new")));
    Files.writeString(fixture.logs().resolve(MetaProperties.FILE_NAME), "version=1\n");
    whateverFails(
        () ->
            MissingPools.create(
                fixture.spec(), TierEvents.NONE, new ArrayList<>(), TierParts.STANDARD.pools()),
        question -> assertThat(pool).as("question %s", question).hasBinaryContent(before));
    fixture.pools.set(0, pool);
  }

  @Test
  void whatAStockBrokerHasAppendedIsNotTruncated() throws Exception {
    fixture.open();
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, RECORDS);
    fixture.append(fixture.segment("orders-0", 1000), RECORDS);
    MoveResult unused = fixture.destage(file, LOG_FILE);
    fixture.close();
    Files.write(file, MORE, StandardOpenOption.APPEND);
    Files.createFile(fixture.logs().resolve(NewestLogFiles.CLEAN_SHUTDOWN));
    Files.writeString(fixture.logs().resolve(MetaProperties.FILE_NAME), "version=1\n");
    long size = Files.size(file);
    asked =
        each -> each.endsWith(file.getFileName()) || each.endsWith(NewestLogFiles.CLEAN_SHUTDOWN);
    whateverFails(
        () -> {
          fixture.open();
          fixture.close();
        },
        question -> assertThat(file).as("question %s", question).hasSize(size));
  }

  @Test
  void noPartitionIsLeftOut() throws IOException {
    for (int partition = 0; partition < 5; partition++) {
      Path unused = fixture.partition("orders-" + partition);
    }
    whateverFails(
        () -> assertThat(NewestLogFiles.partitions(fixture.logs())).hasSize(5), question -> {});
  }
}
