package io.strata.kafka.cli.pool;

import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.ConfigOption;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Json;
import io.strata.kafka.cli.terminal.Progress;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.cli.terminal.UsageException;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.PoolType;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.key.ByteAmount;
import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code strata pool create}. */
@Command(
    name = "create",
    description = {
      """
      Creates a pool file: allocates its blocks now, so that a full disk cannot surprise a \
      running broker, and formats it. Run it as the user that the broker runs as: the file \
      belongs to that user alone. One that root creates belongs to its directory's owner.\
      """,
      "",
      """
      With --config the pool is bound to that broker and its cluster, and takes its type and its \
      path from strata.pool.type and strata.pools unless they are given here.\
      """,
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata pool create --size 64GiB --config server.properties /mnt/pmem0/hot.pool",
      "  strata pool create --size 512MiB --type mapped --broker-id 1 /dev/shm/hot.pool"
    })
final class PoolCreateCommand extends StrataCommand {
  @Parameters(paramLabel = "FILE", arity = "0..1", description = "The file; it must not exist.")
  private @Nullable Path file;

  @Option(names = "--path", paramLabel = "FILE", description = "The same as the parameter FILE.")
  private @Nullable Path path;

  // Required, and so set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--size",
      required = true,
      paramLabel = "SIZE",
      converter = ByteSize.Converter.class,
      description = "The file's size, for example 64GiB.")
  private ByteAmount size;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description =
          """
          How the broker will reach it: auto, pmem, mapped or file; auto by default. The \
          file is the same for all.\
          """)
  private @Nullable PoolType type;

  @Option(
      names = "--slots",
      paramLabel = "N",
      description = "Segments that it can hold at a time; one per MiB by default.")
  private @Nullable Integer slots;

  @Option(names = "--broker-id", paramLabel = "N", description = "The broker's node.id.")
  private @Nullable Integer brokerId;

  @Option(
      names = "--cluster-id",
      paramLabel = "ID",
      description = "The cluster's id, as in meta.properties.")
  private @Nullable String clusterId;

  @Mixin private final ConfigOption config = new ConfigOption();
  @Mixin private final Json json = new Json();

  @Override
  protected ExitCode run() throws Exception {
    Optional<BrokerProperties> broker = config.loadForChange();
    Optional<StrataConfig> strata = Optional.empty();
    if (broker.isPresent()) {
      if (brokerId != null || clusterId != null) {
        throw new UsageException(
            "--config: found with --broker-id or --cluster-id, expected the one or the others");
      }
      strata = broker.get().strataConfig().config();
    }
    Path target = target(strata);
    PoolType wanted = type(strata, target);
    MemoryType poolType = wanted.fixed().orElse(MemoryType.MAPPED);
    PoolSpec pool = PoolSpec.of(target, poolType, size.bytes()).withOwner(owner(broker));
    if (slots != null) {
      pool = pool.withSlotCount(slots);
    }
    try (Progress progress = Progress.onTerminal("creating " + target.getFileName())) {
      Pool.create(pool, progress);
    }
    wanted
        .refusal(target)
        .ifPresent(refusal -> note("the broker will refuse %s: %s".formatted(target, refusal)));
    if (broker.isPresent()) {
      warnOfOtherUser(broker.get(), target);
      if (strata.map(config -> !config.pools().contains(target)).orElse(true)) {
        note("next: add " + target + " to strata.pools in server.properties");
      }
    }
    PoolReport.print(List.of(PoolReport.of(target)), json, out());
    return ExitCode.OK;
  }

  /** Returns what was given, or that of the pool's tier; of the first tier if it is not listed. */
  private PoolType type(Optional<StrataConfig> strata, Path pool) {
    if (type != null) {
      return type;
    }
    if (strata.isEmpty()) {
      return PoolType.AUTO;
    }
    StrataConfig config = strata.get();
    return config.pools().contains(pool) ? config.poolType(pool) : config.tiers().get(0).type();
  }

  private Path target(Optional<StrataConfig> strata) throws UsageException {
    if (file != null && path != null) {
      throw new UsageException("--path: found with the parameter FILE, expected one of them");
    }
    Optional<Path> given = Optional.ofNullable(file).or(() -> Optional.ofNullable(path));
    if (given.isPresent()) {
      return given.get().toAbsolutePath().normalize();
    }
    return PoolCommand.PoolPlace.only(strata.map(StrataConfig::pools).orElse(List.of()));
  }

  /** Binds the pool to the known ids; the broker binds it to the others when it first opens it. */
  private PoolOwner owner(Optional<BrokerProperties> broker) throws IOException {
    Optional<String> cluster = Optional.ofNullable(clusterId);
    if (broker.isEmpty()) {
      return new PoolOwner(
          brokerId == null ? OptionalInt.empty() : OptionalInt.of(brokerId), cluster);
    }
    for (Path directory : broker.get().logDirs()) {
      if (cluster.isEmpty()) {
        cluster = MetaProperties.read(directory).clusterId();
      }
    }
    return new PoolOwner(broker.get().nodeId(), cluster);
  }

  /** The commonest mistake: created by root, and then the broker may not open it. */
  private void warnOfOtherUser(BrokerProperties broker, Path pool) throws IOException {
    Path directory = broker.logDirs().get(0);
    if (!Files.isDirectory(directory)) {
      return;
    }
    UserPrincipal brokersUser = Files.getOwner(directory);
    UserPrincipal poolsUser = Files.getOwner(pool);
    if (!brokersUser.equals(poolsUser)) {
      note(
          """
          warning: %s belongs to %s, and the log directory %s to %s: run 'chown %s %s', or \
          the broker cannot open it\
          """
              .formatted(
                  pool,
                  poolsUser.getName(),
                  directory,
                  brokersUser.getName(),
                  brokersUser.getName(),
                  pool));
    }
  }
}
