package io.strata.kafka.config;

import io.strata.kafka.config.key.StrataKey;
import io.strata.kafka.memory.FileProbe;
import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How the configuration has a pool reached: a {@link MemoryType}, or the one that fits what the
 * pool's file is on.
 *
 * @param fixed the type; empty for {@code auto}
 */
public record PoolType(Optional<MemoryType> fixed) {

  public static final PoolType AUTO = new PoolType(Optional.empty());

  private static final List<PoolType> ALL =
      Stream.concat(Stream.of(AUTO), Arrays.stream(MemoryType.values()).map(PoolType::of)).toList();

  static final StrataKey.Kind<PoolType> KIND = Values.oneOf(ALL, PoolType::configName);

  /** The type of that name, in lower or upper case; throws IllegalArgumentException for another. */
  public static PoolType parse(String name) {
    return KIND.parser().apply(name);
  }

  public static PoolType of(MemoryType type) {
    return new PoolType(Optional.of(type));
  }

  public String configName() {
    return fixed.map(MemoryType::configName).orElse("auto");
  }

  /**
   * Returns why a pool may not be used so: its file is in the machine's memory, which a restart of
   * the machine empties, and nobody has asked for that by name.
   *
   * @param file the pool's file; it may be missing
   * @return empty if it may
   */
  public Optional<String> refusal(Path file) {
    if (fixed.equals(Optional.of(MemoryType.MAPPED)) || !FileProbe.wouldBeMemoryBacked(file)) {
      return Optional.empty();
    }
    return Optional.of(
        """
        found a file system in the machine's memory (tmpfs), which a restart of the machine empties \
        with every record that is only there, expected persistent memory or a device: move the pool \
        to one; or, for a trial or a volume that may go, set strata.pool.type=mapped\
        """);
  }

  /**
   * The type for a pool.
   *
   * @param file the pool's file; what is not there, or cannot be looked at, gets {@link
   *     MemoryType#MAPPED}, and is refused when it is opened
   */
  public MemoryType on(Path file) {
    return fixed.orElseGet(() -> MemoryOpener.fitting(file));
  }
}
