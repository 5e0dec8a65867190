package io.strata.kafka.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The folders of one test class: one below {@code target/it} for log directories and logs, which
 * stays for the reader of a failure until the next run, and one on a memory-backed file system
 * (where there is one with space) for pools, which is removed at the end. What the class opens
 * through {@link #closing} is closed in reverse order. Register it as a static extension.
 */
public final class Workspace implements BeforeAllCallback, AfterAllCallback {

  private static final Path MEMORY_BACKED = Path.of("/dev/shm");
  private static final long ROOM_FOR_POOLS = 2L << 30;

  private final List<AutoCloseable> open = new ArrayList<>();
  private Optional<Folders> folders = Optional.empty();

  private record Folders(Path work, Path pools) {}

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    String name = context.getRequiredTestClass().getSimpleName();
    Path folder = Distribution.work().resolve(name).toAbsolutePath();
    delete(folder);
    Files.createDirectories(folder);
    Path pools =
        hasSpace(MEMORY_BACKED)
            ? Files.createTempDirectory(MEMORY_BACKED, "strata-it-" + name + "-")
            : Files.createDirectories(folder.resolve("pools"));
    folders = Optional.of(new Folders(folder, pools));
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    if (folders.isEmpty()) {
      return;
    }
    delete(pools());
    if (context.getExecutionException().isEmpty()) {
      deleteLogDirectories();
    }
  }

  /** A folder of the given name; created. */
  public Path folder(String name) {
    try {
      return Files.createDirectories(folders().work().resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The path of a pool of the given name; nothing is created. */
  public Path pool(String name) {
    return pools().resolve(name + ".pool");
  }

  /** As {@link #pool(String)}, on the disk if its type is not the one that may be in memory. */
  public Path pool(String name, String type) {
    return type.equals("mapped") ? pool(name) : folder(name + "-pool").resolve(name + ".pool");
  }

  /** As {@link #pool(String)}; the pool is created, of the type {@code mapped}. */
  public Path newPool(String name, String size) {
    return Pools.create(pool(name), size);
  }

  /** The same, for many small segments. */
  public Path newPool(String name, String size, int slots) {
    return Pools.create(pool(name), size, slots);
  }

  /** The folder of the pools. */
  public Path pools() {
    return folders().pools();
  }

  /** Without them, files would land in whatever folder the tests were started in. */
  private Folders folders() {
    return folders.orElseThrow(
        () ->
            new IllegalStateException(
                "The test class has not begun for its Workspace: register it as a static field, or"
                    + " in a class with the lifecycle PER_CLASS"));
  }

  /** Starts a broker, which is closed after the class's last test. */
  public StockBroker start(StockBroker.Builder builder) throws IOException, InterruptedException {
    return closing(builder.build()).start();
  }

  /** Registers something to close after the class's last test. */
  public <T extends AutoCloseable> T closing(T resource) {
    open.add(resource);
    return resource;
  }

  private static boolean hasSpace(Path path) throws IOException {
    return Files.isWritable(path) && Files.getFileStore(path).getUsableSpace() >= ROOM_FOR_POOLS;
  }

  /** Logs of the processes stay; the data of the brokers would fill the disk. */
  private void deleteLogDirectories() throws IOException {
    List<Path> data;
    try (Stream<Path> files = Files.walk(folders().work(), 2)) {
      data = files.filter(p -> p.getFileName().toString().startsWith("data")).toList();
    }
    for (Path path : data) {
      delete(path);
    }
  }

  public static void delete(Path tree) throws IOException {
    if (!Files.exists(tree)) {
      return;
    }
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
