package io.strata.kafka.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.broker.TierSpecs;
import io.strata.kafka.cli.doctor.DoctorCheck.Diagnosis;
import io.strata.kafka.cli.doctor.DoctorCheck.Verdict;
import io.strata.kafka.cli.doctor.StorageCheck;
import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryDirectory;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The doctor's verdict on pools and log directories is the next start's, on whatever is found, and
 * the doctor changes nothing. A seeded test; a failure prints its seed.
 */
class DoctorAndStartTest {
  private static final int MIB = 1 << 20;
  private static final long SEED = Long.getLong("strata.doctor.seed", 1);
  private static final Set<StandardOpenOption> KAFKA =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

  /** On a disk: a pool in memory is refused. */
  @TempDir(factory = MemoryDirectory.OnDisk.class)
  Path temp;

  @Test
  void agreeOnSomeStates() throws Exception {
    agree(SEED, Integer.getInteger("strata.doctor.states", 300));
  }

  @Test
  @Tag("long")
  void agreeOnManyStates() throws Exception {
    agree(SEED + 1_000_000, Integer.getInteger("strata.doctor.states", 10_000));
  }

  private void agree(long first, int states) throws Exception {
    Map<String, Integer> verdicts = new TreeMap<>();
    for (long seed = first; seed < first + states; seed++) {
      Path root = Files.createDirectory(temp.resolve("s" + seed));
      State state = new State(root, new Random(seed));
      try {
        state.make();
        verdicts.merge(state.compare(seed), 1, Integer::sum);
      } catch (IOException | RuntimeException e) {
        throw new AssertionError("seed " + seed + " " + state.done, e);
      }
      delete(root);
    }
    assertThat(verdicts).hasSizeGreaterThan(5);
  }

  private static void delete(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(file);
      }
    }
  }

  /** One state of a broker's pools and log directories. */
  private static final class State {
    private final Path root;
    private final Random random;
    private final List<String> done = new ArrayList<>();
    private final List<Path> logs = new ArrayList<>();
    private final List<Path> pools = new ArrayList<>();
    private final Map<String, String> keys = new HashMap<>();

    State(Path root, Random random) {
      this.root = root;
      this.random = random;
    }

    void make() throws IOException {
      for (int i = 0; i <= random.nextInt(2); i++) {
        Path directory = Files.createDirectory(root.resolve("logs" + i));
        Files.writeString(directory.resolve("meta.properties"), "node.id=1\ncluster.id=c\n");
        logs.add(directory);
      }
      String type = random.nextInt(5) == 0 ? "file" : "mapped";
      keys.put("strata.pool.type", type);
      for (int i = 0; i <= random.nextInt(2); i++) {
        Path pool = root.resolve("pool" + i);
        Pool.create(
            PoolSpec.of(pool, MemoryType.MAPPED, 4 * MIB).withOwner(PoolOwner.of(1, "c")),
            ProgressListener.NONE);
        pools.add(pool);
      }
      if (random.nextInt(8) != 0) {
        run();
      }
      if (random.nextBoolean()) {
        snapshot();
        run();
      }
      int changes = random.nextInt(4);
      for (int i = 0; i < changes; i++) {
        change();
      }
    }

    /** As a broker does, from its start to its stop. */
    private void run() throws IOException {
      try (HotTier tier = HotTier.start(TierSpecs.of(config(), broker()), NONE, EVENTS)) {
        for (int i = 0; i <= random.nextInt(3); i++) {
          Path partition = pick(logs).resolve("t-" + random.nextInt(3));
          Files.createDirectories(partition);
          Path file = partition.resolve("%020d.log".formatted(1000 * random.nextInt(3)));
          try (FileChannel channel = tier.open(file, KAFKA).orElseThrow()) {
            byte[] bytes = new byte[1 + random.nextInt(100_000)];
            random.nextBytes(bytes);
            channel.position(channel.size());
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
              channel.write(buffer);
            }
          }
        }
        if (random.nextInt(4) == 0) {
          Path partition = pick(logs).resolve("t-0");
          Path deleted =
              partition.resolveSibling("t-0.%032x-delete".formatted(random.nextInt(1 << 30)));
          if (Files.isDirectory(partition)) {
            boolean unused = tier.move(partition, deleted, StandardCopyOption.ATOMIC_MOVE);
          }
        }
      }
    }

    private void snapshot() throws IOException {
      copy(root.resolve("pool0"), root.resolve("old.pool"));
      copy(root.resolve("logs0"), root.resolve("old.logs"));
    }

    private static void copy(Path from, Path to) throws IOException {
      try {
        assertThat(new ProcessBuilder("cp", "-a", from.toString(), to.toString()).start().waitFor())
            .isZero();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    private void change() throws IOException {
      Path pool = pick(pools);
      Path directory = pick(logs);
      int which = random.nextInt(30);
      done.add(which + " " + pool.getFileName() + " " + directory.getFileName());
      switch (which) {
        case 0 -> Files.deleteIfExists(pool);
        case 1 -> replace(pools, pool, root.resolve("mistyped.pool"));
        case 2 -> keys.put("strata.pool.create", "4MiB");
        case 3 -> keys.put("strata.pool.create", "1TiB");
        case 4 -> keys.put("strata.pool.type", pick(List.of("file", "auto", "mapped")));
        case 5 -> keys.put("strata.require.dax", "true");
        case 6 -> keys.put("strata.durability", "ack");
        case 7 -> keys.put("node.id", "2");
        case 8 -> damage(pool, random.nextInt(8192));
        case 9 -> damage(pool, 8192 + random.nextInt(4096));
        case 10 -> truncate(pool, random.nextInt(4 * MIB));
        case 11 -> putBack(root.resolve("old.pool"), root.resolve("pool0"));
        case 12 -> putBack(root.resolve("old.logs"), root.resolve("logs0"));
        case 13 -> move(directory, root.resolve("away"));
        case 14 -> replace(logs, directory, root.resolve("missing"));
        case 15 -> {
          if (logs.size() > 1) {
            logs.remove(directory);
          }
        }
        case 16 -> {
          Path copy = root.resolve("copy" + random.nextInt(1000));
          copyWith(directory, copy, random.nextBoolean() ? "all" : "mode,timestamps");
          replace(logs, directory, copy);
        }
        case 17 -> {
          Path copy = root.resolve("copy" + random.nextInt(1000));
          copyWith(directory, copy, "all");
          logs.add(copy);
        }
        case 18 -> logFile().ifPresent(State::deleteFile);
        case 19 -> {
          Optional<Path> file = logFile();
          if (file.isPresent()) {
            truncate(file.get(), random.nextInt(1 + (int) Files.size(file.get())));
          }
        }
        case 20 -> {
          Optional<Path> file = logFile();
          if (file.isPresent()) {
            boolean unused = SegmentTag.remove(file.get());
          }
        }
        case 21 -> {
          Optional<Path> file = logFile();
          if (file.isPresent()) {
            byte[] other = new byte[random.nextInt(50_000)];
            random.nextBytes(other);
            Files.write(file.get(), other);
          }
        }
        case 22 -> {
          Optional<Path> file = logFile();
          if (file.isPresent()) {
            new SegmentTag(UUID.randomUUID(), 0, 1).write(file.get());
          }
        }
        case 23 -> {
          if (Files.isDirectory(directory)) {
            Files.writeString(directory.resolve("meta.properties"), "node.id=1\ncluster.id=c\n");
          }
        }
        case 24 ->
            attribute(
                directory, pick(List.of("strata.directory", "strata.pools", "strata.moments")), "");
        case 25 ->
            attribute(
                directory,
                pick(List.of("strata.directory", "strata.pools", "strata.moments")),
                "nonsense");
        case 26 -> {
          Files.deleteIfExists(pool);
          Pool.create(PoolSpec.of(pool, MemoryType.MAPPED, 4 * MIB), ProgressListener.NONE);
        }
        case 27 -> {
          if (Files.exists(pool)) {
            Path copy = root.resolve("twin" + random.nextInt(1000));
            Files.copy(pool, copy);
            pools.add(copy);
          }
        }
        case 28 -> {
          Files.deleteIfExists(pool);
          Path unused = Files.createSymbolicLink(pool, root.resolve("not-mounted"));
        }
        default -> {
          Optional<Path> file = logFile();
          if (file.isPresent()) {
            Path copy = file.get().resolveSibling("%020d.log".formatted(7000));
            Files.deleteIfExists(copy);
            copyWith(file.get(), copy, "all");
          }
        }
      }
    }

    private static void copyWith(Path from, Path to, String preserved) throws IOException {
      if (!Files.exists(from) || Files.exists(to)) {
        return;
      }
      try {
        int code =
            new ProcessBuilder(
                    "cp", "-r", "--preserve=" + preserved, from.toString(), to.toString())
                .start()
                .waitFor();
        assertThat(code).isZero();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    private static void deleteFile(Path file) {
      try {
        Files.delete(file);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    private static void replace(List<Path> list, Path one, Path other) {
      list.remove(one);
      if (!list.contains(other)) {
        list.add(other);
      }
    }

    private static void move(Path from, Path to) throws IOException {
      if (Files.exists(from) && !Files.exists(to)) {
        Path unused = Files.move(from, to);
      }
    }

    private static void putBack(Path old, Path now) throws IOException {
      if (Files.exists(old)) {
        if (Files.exists(now, LinkOption.NOFOLLOW_LINKS)) {
          delete(now);
        }
        Path unused = Files.move(old, now);
      }
    }

    private static void damage(Path pool, long position) throws IOException {
      if (Files.isRegularFile(pool)) {
        try (FileChannel file = FileChannel.open(pool, StandardOpenOption.WRITE)) {
          int unused = file.write(ByteBuffer.wrap(new byte[] {7, 7, 7, 7}), position);
        }
      }
    }

    private static void truncate(Path path, long length) throws IOException {
      if (Files.isRegularFile(path)) {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
          FileChannel unused = file.truncate(length);
        }
      }
    }

    private static void attribute(Path directory, String name, String value) throws IOException {
      if (Files.isDirectory(directory)) {
        UserDefinedFileAttributeView view =
            Files.getFileAttributeView(directory, UserDefinedFileAttributeView.class);
        if (!value.isEmpty()) {
          view.write(name, UTF_8.encode(value));
        } else if (view.list().contains(name)) {
          view.delete(name);
        }
      }
    }

    private Optional<Path> logFile() throws IOException {
      List<Path> files = new ArrayList<>();
      for (Path directory : logs) {
        if (Files.isDirectory(directory)) {
          try (Stream<Path> all = Files.walk(directory)) {
            all.filter(file -> file.toString().endsWith(".log")).sorted().forEach(files::add);
          }
        }
      }
      return files.isEmpty() ? Optional.empty() : Optional.of(pick(files));
    }

    private <T> T pick(List<T> list) {
      return list.get(random.nextInt(list.size()));
    }

    private BrokerProperties broker() {
      Map<String, String> all = new HashMap<>(Map.of("node.id", "1"));
      all.putAll(keys);
      all.put("log.dirs", String.join(",", logs.stream().map(Path::toString).toList()));
      all.put("strata.pools", String.join(",", pools.stream().map(Path::toString).toList()));
      return BrokerProperties.of("test", all);
    }

    private StrataConfig config() {
      return broker().strataConfig().config().orElseThrow();
    }

    /** Returns the verdict that both have. */
    String compare(long seed) throws IOException {
      Map<String, String> before = content();
      List<Diagnosis> found =
          new StorageCheck(Surroundings.ofThisProcess(), broker(), config(), OptionalLong.empty())
              .run();
      List<Diagnosis> failures =
          found.stream().filter(each -> each.verdict() == Verdict.FAIL).toList();
      assertThat(content()).as("seed %d %s", seed, done).isEqualTo(before);
      Path metadata = broker().metadataLogDir();
      List<Path> unformatted =
          logs.stream()
              .filter(directory -> Files.notExists(directory.resolve("meta.properties")))
              .toList();
      boolean kafkaStarts =
          Files.isDirectory(metadata)
              && (unformatted.isEmpty() || unformatted.size() == logs.size());
      String start = kafkaStarts ? "starts" : "Kafka refuses";
      if (start.equals("starts")) {
        try (HotTier tier = HotTier.start(TierSpecs.of(config(), broker()), NONE, EVENTS)) {
          assertThat(tier.pools()).isNotEmpty();
        } catch (IOException e) {
          start = "refused: " + e;
        }
      }
      assertThat(failures.isEmpty())
          .as("seed %d %s %s%n%s%n%s", seed, done, keys, start, failures)
          .isEqualTo(start.equals("starts"));
      return start.startsWith("refused: ") ? kind(start) : start;
    }

    /** The words of a refusal without what it is about. */
    private static String kind(String refusal) {
      String text = refusal.replaceAll("/\\S+|[0-9a-f-]{36}|[0-9]+", "");
      return text.substring(0, Math.min(60, text.length()));
    }

    /** What is where, with attributes and times. */
    private Map<String, String> content() throws IOException {
      Map<String, String> content = new TreeMap<>();
      try (Stream<Path> files = Files.walk(root)) {
        for (Path file : files.toList()) {
          if (Files.exists(file)) {
            content.put(
                file.toString(),
                Files.getLastModifiedTime(file)
                    + " "
                    + Files.size(file)
                    + " "
                    + Files.getAttribute(file, "unix:ctime"));
          }
        }
      }
      return content;
    }
  }

  private static final TierEvents NONE = TierEvents.NONE;
  private static final SegmentEvents EVENTS = SegmentEvents.NONE;
}
