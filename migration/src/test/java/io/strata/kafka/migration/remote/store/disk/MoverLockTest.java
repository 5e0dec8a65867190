package io.strata.kafka.migration.remote.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.Stores;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The mover's lock in a directory that answers late. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MoverLockTest {

  private static final Path KERNELS_LOCKS = Path.of("/proc/locks");

  @TempDir private Path top = Path.of("");
  private final FaultyFileSystem files = new FaultyFileSystem();
  private final AtomicInteger opened = new AtomicInteger();
  private Runnable over = () -> {};
  private Optional<SegmentStore> opening = Optional.empty();

  @BeforeEach
  void open() throws Exception {
    Files.createDirectory(top.resolve("ssd"));
    opening = Optional.of(open(1));
  }

  private SegmentStore open(int broker) throws Exception {
    return open(broker, "ssd");
  }

  private SegmentStore open(int broker, String directory) throws Exception {
    return new SegmentStore(
        new StoreOptions(
            List.of(Stores.level("ssd", files.wrap(top.resolve(directory)))),
            broker,
            Stores.CLUSTER,
            List.of(),
            InstantSource.system(),
            StoreStage.Hook.NONE,
            StoreIdentity::read,
            new DirectoryAccess.Threads(
                Optional.of(EngineEnvironment.system().threads()),
                Duration.ofMillis(100),
                System::nanoTime)),
        Optional.empty());
  }

  @AfterEach
  void end() {
    over.run();
    opening.ifPresent(SegmentStore::close);
  }

  private List<StoreDirectory> directories() {
    return opening.orElseThrow().directories();
  }

  private int stuck() {
    return directories().get(0).stuck();
  }

  private boolean isLocked() throws IOException {
    return isLocked(top.resolve("ssd/locks/mover.lock"));
  }

  private static boolean isLocked(Path file) throws IOException {
    String inode = ":" + Files.getAttribute(file, "unix:ino") + " ";
    return Files.readString(KERNELS_LOCKS).contains(inode);
  }

  /**
   * The operating system drops all locks of a process on a file when it closes one of its opens.
   */
  @Test
  void anAttemptThatComesBackLateDropsNoLock() throws Exception {
    MoverLock lock = new MoverLock(directories());
    over =
        files.hang(
            (operation, path) -> path.endsWith("mover.lock") && opened.incrementAndGet() == 1);
    assertThatThrownBy(lock::tryHold)
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("no directory can be locked");
    boolean unused = tries(lock);
    over.run();
    await().atMost(Duration.ofSeconds(100)).until(() -> stuck() == 0);
    hold(lock);
    assertThat(isLocked()).isTrue();
    release(lock);
  }

  /** Otherwise it would be held by a broker that moves nothing. */
  @Test
  void anAttemptThatComesBackAfterTheLockWasReleasedHoldsNothing() throws Exception {
    MoverLock lock = new MoverLock(directories());
    over =
        files.hang(
            (operation, path) -> path.endsWith("mover.lock") && opened.incrementAndGet() == 1);
    assertThatThrownBy(lock::tryHold).isInstanceOf(StoreUnavailableException.class);
    lock.close();
    over.run();
    await().atMost(Duration.ofSeconds(100)).until(() -> stuck() == 0);
    assertThat(isLocked()).isFalse();
    hold(lock);
    release(lock);
  }

  /** As brokers do that share a process, and a store's directories. */
  @Test
  void twoStoresOfAProcessTakeTurns() throws Exception {
    MoverLock one = new MoverLock(directories());
    MoverLock other = new MoverLock(directories());
    hold(one);
    assertThat(tries(other)).isFalse();
    assertThat(isLocked()).isTrue();
    other.close();
    assertThat(isLocked()).isTrue();
    release(one);
    hold(other);
    assertThat(isLocked()).isTrue();
    release(other);
  }

  /** A mount of the directory, or of one above it, looks alike: the lock is the file's. */
  @Test
  void oneDirectoryByTwoPathsHasOneLock() throws Exception {
    Path link = Files.createSymbolicLink(top.resolve("link"), top.resolve("ssd"));
    MoverLock lock = new MoverLock(directories());
    hold(lock);
    assertThat(elsewhere(link)).isEqualTo("not held");
    try (SegmentStore second = open(2, "link")) {
      MoverLock other = new MoverLock(second.directories());
      assertThat(tries(other, second.directories())).isFalse();
      other.close();
    }
    assertThat(isLocked()).isTrue();
    assertThat(elsewhere(link)).as("after another store of this process").isEqualTo("not held");
    release(lock);
    assertThat(elsewhere(link)).isEqualTo("held");
  }

  /** As {@code cp --link} makes it: closing the file by the other name would drop the lock. */
  @Test
  void aFileOfTwoNamesHasOneLock() throws Exception {
    MoverLock lock = new MoverLock(directories());
    hold(lock);
    Files.createDirectory(top.resolve("copy"));
    try (SegmentStore second = open(2, "copy")) {
      Path unused =
          Files.createLink(
              top.resolve("copy/locks/mover.lock"), top.resolve("ssd/locks/mover.lock"));
      MoverLock other = new MoverLock(second.directories());
      assertThat(tries(other, second.directories())).isFalse();
      other.close();
      assertThat(isLocked()).isTrue();
      assertThat(elsewhere(top.resolve("copy"))).isEqualTo("not held");
    }
    release(lock);
  }

  private static String elsewhere(Path directory) throws Exception {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElse("java"),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                OtherBroker.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (InputStream output = process.getInputStream()) {
      return new String(output.readAllBytes(), StandardCharsets.UTF_8).strip();
    } finally {
      process.destroyForcibly();
    }
  }

  /** Says whether it can take the lock. */
  static final class OtherBroker {
    private OtherBroker() {}

    public static void main(String[] args) throws Exception {
      try (SegmentStore store = Stores.open(3, Stores.level("ssd", Path.of(args[0])));
          MoverLock lock = new MoverLock(store.directories())) {
        System.out.println(lock.tryHold() ? "held" : "not held");
      }
    }
  }

  /**
   * A server of NFS takes the lock from a client that it has not heard of for too long, and the
   * client's process does not learn of it: here another process has the lock, and this one its own.
   */
  @Test
  void aLockThatHasGoneToAnotherBrokerIsNotHeld() throws Exception {
    MoverLock lock = new MoverLock(directories());
    assertThat(lock.isStillHeld()).isFalse();
    hold(lock);
    assertThat(tries(lock)).isTrue();
    assertThat(lock.isStillHeld()).isTrue();
    Path locks = top.resolve("ssd/locks");
    Files.move(locks, top.resolve("ssd/locks-before"));
    Files.createDirectory(locks);
    try (SegmentStore second = open(2)) {
      MoverLock other = new MoverLock(second.directories());
      hold(other, second.directories());
      assertThat(lock.isStillHeld()).as("before a move").isFalse();
      assertThat(other.isStillHeld()).isTrue();
      assertThat(tries(lock)).as("held twice").isFalse();
      lock.close();
      assertThat(tries(lock)).isFalse();
      other.close();
    }
    hold(lock);
    release(lock);
  }

  /** Kept, it would keep every later store of this process from moving anything. */
  @Test
  void aLockInADirectoryThatIsSuspendedIsReleased() throws Exception {
    MoverLock lock = new MoverLock(directories());
    hold(lock);
    directories().get(0).suspend("it did not answer");
    close(lock);
    await().atMost(Duration.ofSeconds(100)).until(() -> !isLocked());
    MoverLock other = new MoverLock(directories());
    hold(other);
    release(other);
  }

  /**
   * A store that had to leave its lock to the process's end is garbage then. Its file would be
   * closed, and another file with the same inode be taken for one that is locked.
   */
  @Test
  void aLockWhoseOwnerIsGarbageIsHeldOn() throws Exception {
    WeakReference<MoverLock> dropped = holdAndDrop();
    Path other = Files.createFile(top.resolve("other"));
    WeakReference<FileChannel> alike = lockAndDrop(other);
    await()
        .atMost(Duration.ofSeconds(100))
        .until(
            () -> {
              System.gc();
              return dropped.refersTo(null) && alike.refersTo(null) && !isLocked(other);
            });
    assertThat(isLocked()).isTrue();
  }

  private WeakReference<MoverLock> holdAndDrop() {
    MoverLock lock = new MoverLock(directories());
    hold(lock);
    return new WeakReference<>(lock);
  }

  private static WeakReference<FileChannel> lockAndDrop(Path file) throws IOException {
    FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
    assertThat(channel.tryLock()).isNotNull();
    return new WeakReference<>(channel);
  }

  /** When its deadline is over it is released all the same, a little later. */
  private static void close(MoverLock lock) {
    try {
      lock.close();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("releasing");
    }
  }

  /** The deadline is short, and the machine may be slow. */
  private void hold(MoverLock lock) {
    hold(lock, directories());
  }

  private static void hold(MoverLock lock, List<StoreDirectory> directories) {
    await().atMost(Duration.ofSeconds(100)).until(() -> tries(lock, directories));
  }

  private void release(MoverLock lock) {
    await()
        .atMost(Duration.ofSeconds(100))
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(
            () -> {
              directories().get(0).resume();
              lock.close();
              return !isLocked();
            });
  }

  private boolean tries(MoverLock lock) throws InterruptedException {
    return tries(lock, directories());
  }

  private static boolean tries(MoverLock lock, List<StoreDirectory> directories)
      throws InterruptedException {
    directories.get(0).resume();
    try {
      return lock.tryHold();
    } catch (IOException e) {
      return false; // An earlier attempt is under way.
    }
  }
}
