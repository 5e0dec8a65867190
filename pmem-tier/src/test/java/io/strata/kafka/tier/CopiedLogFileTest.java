package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A log file with a hole is copied, the hole is filled, and the file is copied again. */
final class CopiedLogFileTest {

  private static final int MIB = 1 << 20;

  /** How a hole is filled. */
  enum Fill {
    DRAIN,
    DESTAGE,
    UNSPILL,
    /** The segment is whole in another slot before, and its log file still has the hole. */
    DESTAGE_WHOLE
  }

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path file;
  private byte[] bytes;

  @BeforeEach
  void spill() throws Exception {
    fixture = new TierFixture(directory).pool("hot.pool", 16 * MIB);
    fixture.open();
    Path other = fixture.segment("audit-0", 0);
    fixture.append(other, Batches.of(11 * MIB, 1));
    file = fixture.segment("orders-0", 0);
    bytes = Batches.of(7 * MIB, 2);
    fixture.append(file, bytes);
    assertThat(fixture.tier().figures().spilled()).isEqualTo(1);
    assertThat(Files.size(file)).isEqualTo(bytes.length);
    fixture.tier().delete(other);
    fixture.awaitBackgroundWork();
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private void fill(Fill how) throws Exception {
    if (how == Fill.DESTAGE_WHOLE) {
      fixture.append(fixture.segment("orders-0", 10_000_000), Batches.of(1000, 3));
      assertDone(fixture.promote(file, 0));
    }
    switch (how) {
      case DRAIN -> {
        fixture.close();
        assertThat(Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE).complete())
            .isTrue();
      }
      case UNSPILL -> {
        do {
          assertDone(fixture.goOn(file));
        } while (fixture.view(file).spilled());
      }
      default -> {
        do {
          assertDone(fixture.destage(file, 1));
        } while (fixture.view(file).dirtyBytes() > 0);
      }
    }
    assertThat(file).hasBinaryContent(bytes);
  }

  /** A program that compares seconds sees it, and one that looks for later times. */
  @ParameterizedTest
  @EnumSource
  void aFillShowsAnotherSecond(Fill how) throws Exception {
    FileTime old = FileTime.from(1_000_000_000, TimeUnit.SECONDS);
    assertThat(fixture.tier().setLastModified(file, old)).isTrue();
    fill(how);
    long now = System.currentTimeMillis();
    FileTime filled = Files.getLastModifiedTime(file);
    assertThat(filled).isGreaterThan(old);
    assertThat(filled.to(TimeUnit.SECONDS)).isBetween(now / 1000 - 60, now / 1000 + 60);
  }

  /** Another fill within that second is another change, and an append does not take it back. */
  @Test
  void noSecondIsShownAgain() throws Exception {
    FileTime future = FileTime.fromMillis(System.currentTimeMillis() + 5_000);
    assertThat(fixture.tier().setLastModified(file, future)).isTrue();
    fill(Fill.UNSPILL);
    FileTime filled = Files.getLastModifiedTime(file);
    assertThat(filled.to(TimeUnit.SECONDS)).isGreaterThan(future.to(TimeUnit.SECONDS));
    fixture.append(file, Batches.of(1000, 4));
    fixture.refreshModificationTimesHere();
    assertThat(Files.getLastModifiedTime(file)).isEqualTo(filled);
  }

  /** The commands of docs/runbooks.md, and those of backups by modification time. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "rsync --archive --xattrs --delete",
        "rsync --archive --delete --modify-window=-1",
        "rsync --archive --update --delete",
        "cp --archive --update"
      })
  void aSecondPassBringsWhatWasFilled(String command) throws Exception {
    List<String> words = new ArrayList<>(List.of(command.split(" ")));
    assumeThat(Path.of("/usr/bin", words.get(0))).as("the program").exists();
    Path copy = Files.createDirectory(directory.resolve("copy"));
    words.add(fixture.logs() + "/.");
    words.add(copy.toString());
    run(words);
    Path copied = copy.resolve(fixture.logs().relativize(file));
    assertThat(Files.size(copied)).as("the hole is copied").isEqualTo(bytes.length);
    assertThat(Files.readAllBytes(copied)).isNotEqualTo(bytes);

    fill(Fill.DRAIN);
    run(words);
    assertThat(copied).hasBinaryContent(bytes);
  }

  private static void run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
