package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.remote.ColdManager.ColdFailure;
import io.strata.kafka.migration.remote.RemoteSettings.ColdSettings;
import io.strata.kafka.migration.remote.store.FakeCold;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Another manager: loaded, called, closed, and in all the ways in which that can fail. */
@Timeout(600)
class ColdManagerTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final SegmentInfo SEGMENT =
      new SegmentInfo(
          new SegmentKey("orders", new Uuid(1, 2).toString(), 3, 4711, new Uuid(3, 4).toString()),
          4800,
          0,
          1,
          0,
          100_000,
          new TreeMap<>(Map.of(0, 0L)),
          true);

  @TempDir Path folder = Path.of("");

  private ColdManager create(
      String className, Optional<String> classPath, Map<String, Object> with) {
    return ColdManager.create(
        new ColdSettings(className, classPath, with),
        live(LIMIT),
        EngineEnvironment.system().threads());
  }

  private ColdManager scripted(ScriptedManager.Script script) {
    return create(ScriptedManager.class.getName(), Optional.empty(), Map.of("script", script));
  }

  private static RemoteSettings.Live live(Duration limit) {
    MigrationSettings moves =
        new MigrationSettings(
            MigrationSettings.Mode.EAGER,
            List.of(),
            0.05,
            false,
            1,
            0,
            0,
            limit,
            "newest",
            Map.of(),
            List.of());
    return new RemoteSettings.Live(limit, limit, limit, limit, limit, limit, moves);
  }

  private Path data(byte[] log) throws IOException {
    Path data = Files.createDirectories(folder.resolve("data"));
    Path unused = Files.write(data.resolve("00000000000000004711.log"), log);
    Path unusedToo = Files.write(data.resolve("00000000000000004711.index"), new byte[] {7, 8});
    Path unusedThree = Files.write(data.resolve("leader-epoch-checkpoint"), new byte[] {1});
    Path unusedFour = Files.write(data.resolve(StoreNames.COLD), new byte[] {1});
    return data;
  }

  private static Optional<byte[]> copy(ColdManager manager, Path data)
      throws IOException, InterruptedException {
    return manager.copy(FakeCold.manifest(SEGMENT), data);
  }

  private static byte[] fetch(ColdManager manager, int start, int bytes)
      throws IOException, InterruptedException {
    ByteBuffer target = ByteBuffer.allocate(bytes);
    manager.read(FakeCold.manifest(SEGMENT), Optional.empty(), start, target);
    assertThat(target.hasRemaining()).isFalse();
    return target.array();
  }

  private static void delete(ColdManager manager) throws IOException, InterruptedException {
    manager.delete(SEGMENT, Optional.empty());
  }

  /** What Kafka gets for a failure. */
  private static Throwable translated(Throwable failure) {
    assertThat(failure).isExactlyInstanceOf(ColdFailure.class);
    return RemoteFailures.translate("Trying", failure, RemoteFailures.cause(failure));
  }

  @Test
  void copiesReadsAndDeletes() throws Exception {
    ColdManager manager =
        create(
            DirectoryManager.class.getName(),
            Optional.empty(),
            Map.of("directory", folder.toString()));
    roundTrip(manager);
    assertThat(manager.className()).isEqualTo(DirectoryManager.class.getName());
    manager.close();
    manager.close();
    assertThat(folder.resolve("closed")).exists();
    assertThat(translated(catchThrowable(() -> delete(manager))))
        .isExactlyInstanceOf(RemoteStorageException.class)
        .hasMessageContaining("closed");
  }

  private void roundTrip(ColdManager manager) throws Exception {
    byte[] log = new byte[100_000];
    new Random(1).nextBytes(log);
    assertThat(copy(manager, data(log)).orElseThrow()).containsExactly(1, 2, 3);
    assertThat(fetch(manager, 0, 100_000)).isEqualTo(log);
    assertThat(fetch(manager, 99_000, 1000)).isEqualTo(Arrays.copyOfRange(log, 99_000, 100_000));
    assertThat(fetch(manager, 5, 0)).isEmpty();
    Throwable tooShort = catchThrowable(() -> fetch(manager, 99_000, 1001));
    assertThat(tooShort)
        .hasCauseInstanceOf(EOFException.class)
        .hasMessageContaining("found 1000 bytes from byte 99000 on, expected 1001");
    assertThat(translated(tooShort)).isInstanceOf(RetriableRemoteStorageException.class);
    delete(manager);
    delete(manager);
    assertThatThrownBy(() -> fetch(manager, 0, 1))
        .hasCauseInstanceOf(RemoteResourceNotFoundException.class);
  }

  /** A manager that the test's class path does not have, with another version of a class of it. */
  private Path jar() throws IOException {
    Path sources = Files.createDirectories(folder.resolve("sources"));
    Path classes = Files.createDirectories(folder.resolve("classes"));
    String pack = Flavour.class.getPackageName();
    Path flavour = sources.resolve("Flavour.java");
    Files.writeString(
        flavour,
        "package "
            + pack
            + "; public final class Flavour { public static String name() { return \"the jar's\"; }"
            + " }");
    Path manager = sources.resolve("JarManager.java");
    Files.writeString(
        manager,
        "package elsewhere; public class JarManager extends "
            + DirectoryManager.class.getName()
            + " { public void configure(java.util.Map<String, ?> configs) {"
            + " super.configure(configs);"
            + " if (!"
            + pack
            + ".Flavour.name().equals(\"the jar's\")) throw new IllegalStateException(\"flavour\");"
            + " try (var in = getClass().getClassLoader().getResourceAsStream(\"flavour.txt\")) {"
            + " if (!new String(in.readAllBytes()).equals(\"jar\")) throw new Error(\"resource\");"
            + " } catch (java.io.IOException e) { throw new IllegalStateException(e); } } }");
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                flavour.toString(),
                manager.toString());
    assertThat(failed).isZero();
    Files.writeString(classes.resolve("flavour.txt"), "jar");
    // The manager's superclass too: what is in the jar is what counts.
    String base = DirectoryManager.class.getName().replace('.', '/') + ".class";
    try (InputStream in = ColdManagerTest.class.getClassLoader().getResourceAsStream(base)) {
      Files.write(classes.resolve(base), java.util.Objects.requireNonNull(in).readAllBytes());
    }
    Path lib = Files.createDirectories(folder.resolve("lib"));
    Path jar = lib.resolve("manager.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        out.write(Files.readAllBytes(file));
        out.closeEntry();
      }
    }
    return jar;
  }

  @Test
  void loadsFromAClassPathOfItsOwnFirst() throws Exception {
    Path jar = jar();
    for (String classPath :
        List.of(jar.toString(), jar.getParent() + "/*", folder + "/classes:" + jar)) {
      try (ColdManager manager =
          create(
              "elsewhere.JarManager",
              Optional.of(classPath),
              Map.of("directory", folder.toString(), "broker.id", 1))) {
        roundTrip(manager);
      }
    }
    assertThat(Flavour.name()).isEqualTo("the broker's");
    assertThatThrownBy(() -> Class.forName("elsewhere.JarManager"))
        .isInstanceOf(ClassNotFoundException.class);
  }

  static Stream<Arguments> wrongNames() {
    return Stream.of(
        Arguments.of("", "no class name"),
        Arguments.of("a b", "no class name"),
        Arguments.of("a..b", "no class name"),
        Arguments.of("/etc/passwd", "no class name"),
        Arguments.of("elsewhere.JarManager", "not on the broker's class path"),
        Arguments.of(String.class.getName(), "no RemoteStorageManager"),
        Arguments.of(Flavour.class.getName(), "no RemoteStorageManager"),
        Arguments.of("org.apache.kafka.server.log.remote.storage.RemoteStorageManager", "abstract"),
        Arguments.of(ScriptedManager.Unfinished.class.getName(), "abstract"),
        Arguments.of(ScriptedManager.NeedsSomething.class.getName(), "cannot be created"),
        Arguments.of(ScriptedManager.FailsAtOnce.class.getName(), "no such bucket"),
        Arguments.of(ScriptedManager.FailsToLoad.class.getName(), "cannot be loaded"),
        Arguments.of(
            "io.strata.kafka.migration.remote.StrataRemoteStorageManager", "Strata's own"));
  }

  @ParameterizedTest
  @MethodSource("wrongNames")
  void aWrongClassIsRefused(String name, String found) {
    assertThatThrownBy(() -> create(name, Optional.empty(), Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("rsm.config.cold.class.name: found '" + name + "'")
        .hasMessageContaining(found)
        .hasMessageContaining("expected");
  }

  @Test
  void aWrongClassPathIsRefused() throws IOException {
    Path empty = Files.createDirectories(folder.resolve("empty"));
    for (String wrong :
        List.of(folder + "/missing.jar", folder + "/missing/*", "", ":", empty + "/*", "a\0b")) {
      assertThatThrownBy(
              () -> create(DirectoryManager.class.getName(), Optional.of(wrong), Map.of()))
          .as("class path '%s'", wrong)
          .isInstanceOf(ConfigException.class)
          .hasMessageStartingWith("rsm.config.cold.class.path: found '")
          .hasMessageContaining("in which there is nothing to load classes from")
          .hasMessageContaining("expected");
    }
    Path broken = Files.writeString(folder.resolve("broken.jar"), "no jar");
    assertThatThrownBy(
            () -> create("elsewhere.JarManager", Optional.of(broken.toString()), Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("rsm.config.cold.class.name")
        .hasMessageContaining("broken.jar");
  }

  @Test
  void aRefusedConfigurationSaysWhoseItIs() {
    assertThatThrownBy(() -> create(DirectoryManager.class.getName(), Optional.empty(), Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("rsm.config.cold.*: found a configuration that ")
        .hasMessageContaining("rsm.config.cold.class.name")
        .hasMessageContaining("directory is missing")
        .hasCauseInstanceOf(IllegalArgumentException.class);
  }

  private ScriptedManager.Script failing(Throwable thrown) {
    return call -> {
      if (call.equals("configure") || call.equals("close")) {
        return Optional.empty();
      }
      if (thrown instanceof RemoteStorageException storage) {
        throw storage;
      }
      if (thrown instanceof RuntimeException runtime) {
        throw runtime;
      }
      throw (Error) thrown;
    };
  }

  private void checkFailures(Throwable thrown, Class<?> expected) throws Exception {
    Path data = data(new byte[10]);
    try (ColdManager manager = scripted(failing(thrown))) {
      for (Throwable found :
          List.of(
              catchThrowable(() -> copy(manager, data)),
              catchThrowable(() -> fetch(manager, 0, 1)),
              catchThrowable(() -> delete(manager)))) {
        assertThat(found)
            .hasCause(thrown)
            .hasMessageContaining("cold manager " + ScriptedManager.class.getName())
            .hasMessageContaining("orders-3@4711")
            .hasMessageContaining("trouble");
        assertThat(translated(found)).isExactlyInstanceOf(expected);
      }
    }
  }

  @Test
  void whatItThrowsArrivesAsKafkaAsksForIt() throws Exception {
    checkFailures(new RemoteStorageException("trouble"), RemoteStorageException.class);
    checkFailures(
        new RetriableRemoteStorageException("trouble"), RetriableRemoteStorageException.class);
    checkFailures(new TimeoutException("trouble"), RetriableRemoteStorageException.class);
    checkFailures(new IllegalStateException("trouble"), RemoteStorageException.class);
    checkFailures(new NoClassDefFoundError("trouble"), RemoteStorageException.class);
    checkFailures(new AssertionError("trouble"), RemoteStorageException.class);
  }

  /** The store has the segment: Kafka is not told that it is missing. */
  @Test
  void whatItDoesNotFindIsAFailureAndIsDeleted() throws Exception {
    Path data = data(new byte[10]);
    Throwable missing = new RemoteResourceNotFoundException("trouble");
    try (ColdManager manager = scripted(failing(missing))) {
      for (Throwable found :
          List.of(
              catchThrowable(() -> copy(manager, data)),
              catchThrowable(() -> fetch(manager, 0, 1)))) {
        assertThat(found)
            .hasCause(missing)
            .hasMessageContaining("cold manager " + ScriptedManager.class.getName())
            .hasMessageContaining("orders-3@4711")
            .hasMessageContaining("trouble");
        assertThat(translated(found)).isExactlyInstanceOf(RemoteStorageException.class);
      }
      delete(manager);
    }
  }

  @Test
  void anAnswerThatIsNoneIsAFailure() throws Exception {
    Path data = data(new byte[10]);
    try (ColdManager manager =
        scripted(call -> call.equals("copy") ? "no metadata" : Optional.empty())) {
      assertThat(translated(catchThrowable(() -> fetch(manager, 0, 1))))
          .isExactlyInstanceOf(RemoteStorageException.class)
          .hasMessageContaining("null");
      // Another type than it should be.
      assertThat(translated(catchThrowable(() -> copy(manager, data))))
          .isExactlyInstanceOf(RemoteStorageException.class)
          .hasMessageContaining("ClassCastException");
    }
  }

  @Test
  void aStreamThatBreaksOffCanBeRetried() throws Exception {
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("connection reset");
          }

          @Override
          public int read(byte[] target, int offset, int length) throws IOException {
            throw new IOException("connection reset");
          }
        };
    try (ColdManager manager = scripted(call -> call.equals("fetch") ? broken : Optional.empty())) {
      assertThat(translated(catchThrowable(() -> fetch(manager, 0, 1))))
          .isExactlyInstanceOf(RetriableRemoteStorageException.class)
          .hasMessageContaining("connection reset");
    }
  }

  @Test
  void whatIsReadIsClosed() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    try (ColdManager manager =
        scripted(
            call ->
                call.equals("configure")
                    ? Optional.empty()
                    : new ByteArrayInputStream("abc".getBytes(StandardCharsets.UTF_8)) {
                      @Override
                      public void close() {
                        closed.countDown();
                      }
                    })) {
      assertThat(fetch(manager, 0, 2)).hasSize(2);
      assertThat(closed.getCount()).isZero();
    }
  }

  @Test
  void aCallEndsInItsTimeAndWhenItIsInterrupted() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    try (ColdManager manager =
        scripted(
            call -> {
              if (call.equals("delete")) {
                try {
                  hangs.await();
                } catch (InterruptedException e) {
                  throw new RemoteStorageException(e);
                }
              }
              return Optional.empty();
            })) {
      manager.reconfigure(live(Duration.ofMillis(100)));
      Throwable late = catchThrowable(() -> delete(manager));
      assertThat(late)
          .hasCauseInstanceOf(TimeLimitException.class)
          .hasMessageContaining(ScriptedManager.class.getName());
      assertThat(translated(late)).isExactlyInstanceOf(RetriableRemoteStorageException.class);
      manager.reconfigure(live(LIMIT));
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> delete(manager)).isInstanceOf(InterruptedException.class);
      await().untilAsserted(() -> assertThat(manager.hanging().all()).isZero());
    }
  }

  /** What a manager does in the end of the first would take what the second has written. */
  @Test
  void aCopyIsNotMadeAgainWhileAnEarlierOneMayStillEnd() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    try (ColdManager manager =
        scripted(
            call -> {
              if (call.equals("copy")) {
                // As one that waits for its connection.
                awaitWhateverComes(hangs);
              }
              return Optional.empty();
            })) {
      assertThat(manager.isCopying()).isFalse();
      Path data = data(new byte[1]);
      manager.reconfigure(live(Duration.ofMillis(100)));
      assertThatThrownBy(() -> copy(manager, data)).hasCauseInstanceOf(TimeLimitException.class);
      manager.reconfigure(live(LIMIT));
      assertThat(manager.isCopying()).isTrue();
      assertThat(translated(catchThrowable(() -> copy(manager, data))))
          .isExactlyInstanceOf(RetriableRemoteStorageException.class)
          .hasMessageContaining("has not come back");
      hangs.countDown();
      await().until(() -> !manager.isCopying());
      for (int i = 0; i < 100; i++) {
        assertThat(copy(manager, data)).isEmpty();
      }
      assertThat(manager.isCopying()).isFalse();
    }
  }

  /**
   * Nobody waits for the copy when it ends, and the segment has been deleted, here or elsewhere.
   */
  @Test
  void aCopyThatEndsAfterTheDeletionLeavesNothing() throws Exception {
    for (boolean byAnotherBroker : List.of(false, true)) {
      CountDownLatch hangs = new CountDownLatch(1);
      List<String> calls = new CopyOnWriteArrayList<>();
      try (ColdManager manager =
          scripted(
              call -> {
                if (call.equals("copy")) {
                  awaitWhateverComes(hangs);
                }
                boolean unused = calls.add(call);
                return Optional.empty();
              })) {
        Path data = data(new byte[1]);
        manager.reconfigure(live(Duration.ofMillis(100)));
        assertThatThrownBy(() -> copy(manager, data)).hasCauseInstanceOf(TimeLimitException.class);
        manager.reconfigure(live(LIMIT));
        if (byAnotherBroker) {
          Files.delete(data.resolve(StoreNames.COLD));
        } else {
          delete(manager);
        }
        hangs.countDown();
        await().until(() -> !manager.isCopying());
        assertThat(calls).endsWith("copy", "delete");
      }
    }
  }

  private static void awaitWhateverComes(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      // With an interrupt pending no park waits.
      boolean unused = Thread.interrupted();
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void aManagerThatCannotBeClosedSaysSo() {
    ColdManager manager =
        scripted(
            call -> {
              if (call.equals("close")) {
                throw new IOException("not flushed");
              }
              return Optional.empty();
            });
    assertThatThrownBy(manager::close)
        .isInstanceOf(IOException.class)
        .hasMessageContaining(ScriptedManager.class.getName())
        .hasMessageContaining("not flushed");
    assertThatCode(manager::close).doesNotThrowAnyException();
  }

  private static SegmentInfo another(int number) {
    SegmentKey key = SEGMENT.key();
    return new SegmentInfo(
        new SegmentKey(key.topic(), key.topicId(), 3, 4711, new Uuid(3, 100 + number).toString()),
        SEGMENT.endOffset(),
        0,
        1,
        0,
        SEGMENT.bytes(),
        SEGMENT.leaderEpochs(),
        true);
  }

  /** The connections that writes need are gone, say; reads and deletions have others. */
  @Test
  void copiesThatHangKeepNoReadAndNoDeletionFromBeingAsked() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    ColdManager manager =
        scripted(
            call -> {
              if (call.equals("copy")) {
                awaitWhateverComes(hangs);
              }
              return call.equals("fetch")
                  ? new ByteArrayInputStream(new byte[10])
                  : Optional.empty();
            });
    Path data = data(new byte[100]);
    manager.reconfigure(live(Duration.ofMillis(100)));
    for (int i = 0; i < 20; i++) {
      int number = i;
      assertThatThrownBy(() -> manager.copy(FakeCold.manifest(another(number)), data))
          .isInstanceOf(ColdFailure.class);
    }
    assertThat(manager.hanging().copies()).isEqualTo(16);
    manager.reconfigure(live(LIMIT));
    assertThat(fetch(manager, 0, 10)).hasSize(10);
    delete(manager);
    assertThat(manager.hanging())
        .isEqualTo(new RemoteStats.HangingCalls(ScriptedManager.class.getName(), 16, 0, 0));
    hangs.countDown();
    await().untilAsserted(() -> assertThat(manager.hanging().all()).isZero());
    manager.close();
  }
}
