package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Deletions of segments in directories that cannot be used, which Kafka does not repeat. */
class PendingDeletionsTest {

  private static final SegmentInfo SEGMENT = Stores.info("t", 0, 0, 1, 2000);

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private Path hdd = Path.of("");
  private Path logs = Path.of("");

  @BeforeEach
  void directories() throws IOException {
    ssd = Files.createDirectory(top.resolve("ssd"));
    hdd = Files.createDirectory(top.resolve("hdd"));
    logs = Files.createDirectory(top.resolve("logs"));
  }

  private SegmentStore open(List<Path> memory) {
    return Stores.open(
        Stores.options(
            1, memory, StoreStage.Hook.NONE, Stores.level("ssd", ssd), Stores.level("hdd", hdd)),
        Optional.empty());
  }

  private static Optional<IOException> deletePending(SegmentStore store)
      throws InterruptedException {
    return new StoreUpkeep(store).deletePending(() -> false);
  }

  /** As after an unmount: the mount point is there, and empty. */
  private Path unmount() throws IOException {
    Path away = Files.move(ssd, top.resolve("away"));
    Path unused = Files.createDirectory(ssd);
    return away;
  }

  private void mount(Path away) throws IOException {
    Files.delete(ssd);
    Path unused = Files.move(away, ssd);
  }

  @Test
  void isDoneWhenTheDirectoryIsBackThoughTheBrokerHasRestarted() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    SegmentInfo other = Stores.info("t", 0, 100, 2, 2000);
    SegmentStore.Copied unusedToo = Stores.copy(store, top.resolve("local"), other);
    Path away = unmount();

    assertThat(store.delete(SEGMENT)).isEmpty();
    assertThat(store.delete(SEGMENT)).isEmpty();
    assertThat(deletePending(store)).get().isInstanceOf(StoreUnavailableException.class);
    SegmentStore again = open(List.of(logs));
    assertThat(deletePending(again)).get().isInstanceOf(StoreUnavailableException.class);
    mount(away);

    assertThat(again.locate(SEGMENT.key())).isPresent();
    assertThat(deletePending(again)).isEmpty();
    assertThat(again.locate(SEGMENT.key())).isEmpty();
    assertThat(again.locate(other.key())).isPresent();
    assertThat(logs.resolve(PendingDeletions.FILE)).isEmptyFile();
    assertThat(open(List.of(logs)).parts().deletions().all()).isEmpty();
  }

  @Test
  void isLeftToKafkaWhereItCannotBeNoted() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Path unusedToo = unmount();
    Path unusedThree = Files.move(logs, top.resolve("failed"));

    assertThatThrownBy(() -> store.delete(SEGMENT)).isInstanceOf(StoreUnavailableException.class);
    assertThat(store.parts().deletions().all()).isEmpty();
  }

  @Test
  void theCopiesThatCanBeReachedGoAtOnce() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Path below = StoreNames.segment(hdd, SEGMENT.key());
    Path unusedToo = Files.createDirectories(Disk.parent(below));
    Path unusedThree = Files.move(StoreNames.segment(ssd, SEGMENT.key()), below);
    Path unusedFour = unmount();

    assertThat(store.delete(SEGMENT)).hasSize(1);
    assertThat(below).doesNotExist();
  }

  /** What a power failure has torn was not acknowledged; what comes after it is read. */
  @Test
  void aTornLineIsSkipped() throws Exception {
    PendingDeletions noted = new PendingDeletions(List.of(logs));
    PendingDeletions.Deletion first =
        new PendingDeletions.Deletion(SEGMENT, Optional.of("directory"));
    assertThat(noted.add(first)).isTrue();
    Path file = logs.resolve(PendingDeletions.FILE);
    byte[] whole = Files.readAllBytes(file);
    byte[] torn = java.util.Arrays.copyOf(whole, whole.length / 2);
    torn[torn.length - 1] = (byte) 0xc3;
    Path unused = Files.write(file, torn, StandardOpenOption.APPEND);
    PendingDeletions.Deletion second =
        new PendingDeletions.Deletion(Stores.info("t", 0, 100, 2, 2000), Optional.empty());
    assertThat(new PendingDeletions(List.of(logs)).add(second)).isTrue();

    PendingDeletions read = new PendingDeletions(List.of(top.resolve("failed"), logs));

    assertThat(read.all()).containsExactly(first, second);
    read.done(List.of(first));
    assertThat(new PendingDeletions(List.of(logs)).all()).containsExactly(second);
  }
}
