package io.strata.kafka.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.StrataConfig.SpillForce;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.metrics.MigrationLog;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An engine over tiers without segments, as Kafka and operators reach it. */
class BrokerMigrationTest {

  private static final Map<String, String> FILE =
      Map.of(
          "node.id", "1",
          "strata.pools", "/p/a",
          "strata.migration.threads", "3",
          "strata.migration.policy", "age",
          "strata.migration.policy.after", "2h");

  private final Map<String, Object> kafka = new HashMap<>(FILE);
  private final List<SpillForce> spills = new ArrayList<>();
  private final BrokerMigration migration = start(FILE);

  @AfterEach
  void stop() {
    migration.close();
  }

  @Test
  void worksByTheFileAtFirst() {
    assertThat(migration.settings())
        .containsEntry("strata.tier.hot.threshold", "0.5")
        .containsEntry("strata.migration.threads", "3")
        .containsEntry("strata.migration.policy", "age")
        .containsEntry("strata.migration.policy.after", "2h");
    assertThat(migration.stats().threads()).isEqualTo(3);
  }

  @Test
  void takesChangesAndGoesBack() throws ConfigRefusedException {
    kafka.put("strata.migration.threshold", "-1");
    kafka.put("strata.migration.threads", "5");
    kafka.put("strata.migration.policy", "newest");
    kafka.put("strata.migration.rate.down", "80MB");
    migration.live().validate(FILE, kafka);
    assertThat(migration.settings())
        .as("validated only")
        .containsEntry("strata.migration.threads", "3");

    migration.reconfigure(kafka);
    assertThat(migration.settings())
        .containsEntry("strata.tier.hot.threshold", "-1")
        .containsEntry("strata.migration.threads", "5")
        .containsEntry("strata.migration.policy", "newest")
        .containsEntry("strata.migration.rate.down", "80000000")
        .containsEntry("strata.migration.policy.after", "2h");

    migration.reconfigure(FILE);
    assertThat(migration.settings())
        .containsEntry("strata.tier.hot.threshold", "0.5")
        .containsEntry("strata.migration.threads", "3")
        .containsEntry("strata.migration.policy.after", "2h");
  }

  @Test
  void whetherSpillsAreForcedChangesAndGoesBack() throws ConfigRefusedException {
    assertThat(migration.settings()).containsEntry("strata.spill.force", "auto");
    kafka.put("strata.spill.force", "never");
    migration.live().validate(FILE, kafka);
    assertThat(spills).as("validated only").isEmpty();

    migration.reconfigure(kafka);
    migration.reconfigure(kafka);
    assertThat(spills).containsExactly(SpillForce.NEVER);
    assertThat(migration.settings()).containsEntry("strata.spill.force", "never");

    migration.reconfigure(FILE);
    assertThat(spills).containsExactly(SpillForce.NEVER, SpillForce.AUTO);
  }

  @Test
  void refusesAChangeWithoutAnEffect() {
    kafka.put("strata.migration.threads", "5");
    kafka.put("strata.migration.policy.after", "soon");
    kafka.put("strata.spill.force", "never");

    assertThatThrownBy(() -> migration.live().validate(FILE, kafka))
        .isInstanceOf(ConfigRefusedException.class)
        .hasMessageContaining("strata.migration.policy.after")
        .hasMessageContaining("soon");
    assertThat(migration.settings()).containsEntry("strata.migration.threads", "3");
    assertThat(spills).isEmpty();
  }

  /** A controller stores what it is given. */
  @Test
  void leavesOutWhatIsStoredAndCannotBeUsed() throws ConfigRefusedException {
    kafka.put("strata.migration.threads", "5");
    kafka.put("strata.migration.policy.after", "soon");

    assertThat(migration.reconfigure(kafka))
        .extracting(IgnoredKey::name)
        .containsExactly("strata.migration.policy.after");
    assertThat(migration.settings())
        .containsEntry("strata.migration.threads", "5")
        .containsEntry("strata.migration.policy.after", "2h");

    // And it is no reason to refuse another change.
    Map<String, Object> another = new HashMap<>(kafka);
    another.put("strata.migration.threads", "6");
    migration.live().validate(kafka, another);
    another.put("strata.migration.policy.after", "later");
    assertThatThrownBy(() -> migration.live().validate(kafka, another))
        .hasMessageContaining("later");
  }

  @Test
  void closingLeavesNoThread() {
    migration.close();

    assertThat(engineThreads()).isEmpty();
    migration.close();
  }

  @Test
  void anUnknownPolicyIsRefusedBeforeAnythingIsOpened() {
    Map<String, String> file = new HashMap<>(FILE);
    file.put("strata.migration.policy", "none-such");
    file.put("strata.migration.policy.nonsense", "1");

    assertThatThrownBy(() -> BrokerMigration.policies(config(file)))
        .isInstanceOf(ConfigRefusedException.class)
        .hasMessageContaining("strata.migration.policy: found 'none-such', expected one of")
        .hasMessageContaining("strata.migration.policy.nonsense: found a parameter");
  }

  private static Set<String> engineThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("strata-migration"))
        .collect(Collectors.toSet());
  }

  private BrokerMigration start(Map<String, String> file) {
    return BrokerMigration.start(
        new NoSegments(),
        BrokerProperties.of("test", file),
        config(file),
        PolicyRegistry.builtIn(),
        new MigrationLog(List.of("hot")),
        changed -> spills.add(changed.spillForce()));
  }

  private static StrataConfig config(Map<String, String> file) {
    return StrataConfig.parse(file).config().orElseThrow();
  }

  private static final class NoSegments implements TieredSegments {
    @Override
    public State state() {
      return new State(List.of(new TierUsage(0, "hot", 1000, 0, 0, 0, 0, 0, 8, 0, 0)), List.of());
    }

    @Override
    public MoveResult destage(long id, int toTier, MoveControl control) {
      throw new AssertionError("there is no segment " + id);
    }

    @Override
    public MoveResult evict(long id) {
      throw new AssertionError("there is no segment " + id);
    }

    @Override
    public MoveResult promote(long id, int toTier, MoveControl control) {
      throw new AssertionError("there is no segment " + id);
    }

    @Override
    public void evictionOrder(List<Long> ids) {}
  }

  /** Is found by its name in a file of services. */
  public static final class SoundListener implements MigrationListener {}

  /** As one that was compiled for a newer Java, or whose superclass is missing. */
  @Test
  void aListenerThatCannotBeLinkedIsLeftOut(@TempDir Path directory) throws IOException {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(MigrationListener.class.getName()),
        "broken.Listener\n" + SoundListener.class.getName() + "\n");
    Path broken = Files.createDirectory(directory.resolve("broken"));
    Files.writeString(broken.resolve("Listener.class"), "no class file");
    List<String> warnings = new ArrayList<>();
    try (URLClassLoader loader =
        new URLClassLoader(
            new URL[] {directory.toUri().toURL()}, BrokerMigrationTest.class.getClassLoader())) {
      assertThat(BrokerMigration.listeners(loader, warnings::add))
          .singleElement()
          .isInstanceOf(SoundListener.class);
    }
    assertThat(warnings).singleElement().asString().contains("left out", "ClassFormatError");
  }
}
