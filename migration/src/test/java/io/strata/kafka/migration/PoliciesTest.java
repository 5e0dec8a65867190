package io.strata.kafka.migration;

import static io.strata.kafka.migration.FakeTiers.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.migration.plan.Plan;
import io.strata.kafka.migration.plan.PolicyRegistry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The built-in policies, and how policies are found. */
class PoliciesTest {

  private static final long MINUTE = 60_000;
  private static final long NOW = 1000 * MINUTE;

  private static List<String> moves(Plan plan) {
    return plan.moves().stream().map(m -> m.move().toString()).toList();
  }

  @Test
  void ageHasSegmentsLeaveOnceTheyAreOld() {
    FakeTiers tiers = new FakeTiers(100 * MIB);
    long old = tiers.add("t", 0, 0, 0, MIB, NOW - 10 * MINUTE, false);
    tiers.add("t", 0, 1, 0, MIB, NOW - 10 * MINUTE, true);
    tiers.add("t", 0, 2, 0, MIB, NOW - 9 * MINUTE, false);
    Settings settings = Settings.of(-1).policy("age", Map.of("after", "10m"));

    Plan plan = settings.plan(tiers, NOW);
    assertThat(moves(plan)).containsExactly("DESTAGE t-0@0 from tier 0 to tier 1");
    tiers.apply(plan.moves());
    plan = settings.plan(tiers, NOW);
    assertThat(moves(plan)).containsExactly("EVICT t-0@0 from tier 0 to tier 1");
    tiers.apply(plan.moves());
    assertThat(tiers.view(old).tier()).isEqualTo(1);
    assertThat(settings.plan(tiers, NOW).moves()).isEmpty();
  }

  @Test
  void ageGivesEachTierATime() {
    FakeTiers tiers = new FakeTiers(100 * MIB, 100 * MIB);
    tiers.add("t", 0, 0, 0, MIB, NOW - 20 * MINUTE, false);
    tiers.add("t", 0, 1, 0, MIB, NOW - 200 * MINUTE, false);
    Plan plan = Settings.of(-1, -1).policy("age", Map.of("after", "10m, 2h")).plan(tiers, NOW);
    assertThat(moves(plan))
        .containsExactly(
            "DESTAGE t-0@1 from tier 0 to tier 2", "DESTAGE t-0@0 from tier 0 to tier 1");
  }

  @Test
  void ageMakesSpaceWhenThereIsExcessWhateverTheAge() {
    FakeTiers tiers = new FakeTiers(10 * MIB);
    for (int i = 0; i < 8; i++) {
      tiers.add("t", 0, i, 0, MIB, NOW - 100 + i, false);
    }
    Plan plan = Settings.of(0.5).policy("age", Map.of("after", "7d")).plan(tiers, NOW);
    assertThat(moves(plan)).hasSize(4).first().isEqualTo("DESTAGE t-0@0 from tier 0 to tier 1");
  }

  @Test
  void accessKeepsWhatIsReadAndStrayReadsDoNotCount() {
    FakeTiers tiers = new FakeTiers(10 * MIB);
    for (int i = 0; i < 6; i++) {
      tiers.add("t", 0, i, 0, MIB, NOW - 100 * MINUTE + i, false);
    }
    List<Long> ids = tiers.state().segments().stream().map(s -> s.id()).toList();
    tiers.read(ids.get(0), NOW - MINUTE, MIB); // the whole of it
    tiers.read(ids.get(1), NOW - MINUTE, 4096); // one batch
    Plan plan = Settings.of(0.5).policy("access", Map.of()).plan(tiers, NOW);
    assertThat(moves(plan))
        .containsExactly(
            "DESTAGE t-0@1 from tier 0 to tier 1", "DESTAGE t-0@2 from tier 0 to tier 1");
  }

  @Test
  void accessBringsUpWhatALaggingConsumerReadsInPlaceOfWhatNobodyDoes() {
    FakeTiers tiers = new FakeTiers(32 * MIB);
    Settings settings = Settings.of(0).policy("access", Map.of("read.share", "0.2"));
    for (int i = 0; i < 32; i++) {
      tiers.add("t", 0, i, 0, MIB, NOW - 200 * MINUTE + i, false);
    }
    tiers.apply(settings.plan(tiers, NOW).moves());
    assertThat(tiers.tier(0).cleanBytes()).isEqualTo(32 * MIB);
    long read = tiers.add("old", 0, 0, 1, MIB, 1, false);
    long notRead = tiers.add("old", 0, 1, 1, MIB, 2, false);
    tiers.read(read, NOW, 0.3 * MIB);
    tiers.read(notRead, NOW, 0.1 * MIB);

    Plan plan = settings.plan(tiers, NOW);
    assertThat(moves(plan))
        .containsExactly(
            "EVICT t-0@0 from tier 0 to tier 1", "PROMOTE old-0@0 from tier 1 to tier 0");
    tiers.evictionOrder(plan.evictionOrder());
    tiers.apply(plan.moves());
    assertThat(tiers.view(read).tier()).isZero();
    assertThat(tiers.view(1).tier()).isEqualTo(1); // the oldest gave way
    assertThat(settings.plan(tiers, NOW).moves()).isEmpty();
    assertThat(settings.promote(false).plan(tiers, NOW).moves()).isEmpty();
  }

  /** The first start on a broker with data must not fill the pools from its disks. */
  @Test
  void whatWasThereBeforeStaysThereUntilItIsReadOrPinned() {
    FakeTiers tiers = new FakeTiers(32 * MIB);
    for (int i = 0; i < 8; i++) {
      tiers.found(tiers.add("before", 0, i, 1, MIB, NOW - MINUTE + i, false));
    }
    tiers.add("evicted", 0, 0, 1, MIB, NOW - 50 * MINUTE, false);
    String up = "PROMOTE evicted-0@0 from tier 1 to tier 0";
    assertThat(moves(Settings.of(0.5).plan(tiers, NOW))).containsExactly(up);
    assertThat(moves(Settings.of(0.5).policy("age", Map.of("after", "1h")).plan(tiers, NOW)))
        .containsExactly(up);

    Settings access = Settings.of(0.5).policy("access", Map.of());
    assertThat(access.plan(tiers, NOW).moves()).isEmpty();
    tiers.read(tiers.state().segments().get(3).id(), NOW, MIB);
    assertThat(moves(access.plan(tiers, NOW)))
        .containsExactly("PROMOTE before-0@3 from tier 1 to tier 0");
    assertThat(moves(Settings.of(0.5).pin("before").plan(tiers, NOW)))
        .hasSize(9)
        .contains("PROMOTE before-0@7 from tier 1 to tier 0");
  }

  /** As some write "never". */
  @Test
  void aTimeBeyondAllTimesMovesNothing() {
    FakeTiers tiers = new FakeTiers(100 * MIB);
    tiers.add("t", 0, 0, 0, MIB, 0, false);
    tiers.add("t", 0, 1, 0, MIB, NOW, true);
    Settings never = Settings.of(0.9).policy("age", Map.of("after", "999999999999d"));
    assertThat(never.plan(tiers, NOW).moves()).isEmpty();
  }

  @Test
  void badValuesAreRefusedWithTheirKey() {
    PolicyRegistry registry = PolicyRegistry.builtIn();
    assertThatThrownBy(() -> registry.create("age", Map.of("after", "soon")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("strata.migration.policy.after: 'soon'");
    for (String bad : List.of("", "0", "-5m", "5 weeks", "10m,", "99999999999999999999")) {
      assertThatThrownBy(() -> registry.create("age", Map.of("after", bad)))
          .as(bad)
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> registry.create("access", Map.of("read.share", "x")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("strata.migration.policy.read.share: 'x'");
    assertThatThrownBy(() -> registry.create("newest", Map.of("after", "1h")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("migration policy 'newest': no parameter 'after', expected none");
    assertThatThrownBy(() -> registry.create("age", Map.of("age", "1h")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no parameter 'age', expected one of [after]");
    assertThatThrownBy(() -> registry.create("lru", Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'lru'")
        .hasMessageContaining("[access, age, newest]");
  }

  @Test
  void policiesOfOthersAreFoundByTheirName() {
    PolicyRegistry registry = PolicyRegistry.load(getClass().getClassLoader());
    assertThat(registry.names()).contains("access", "age", "newest", "test-policy");
    assertThat(registry.parameterNames()).contains("after", "read.share", "test.parameter");
    assertThat(registry.create("test-policy", Map.of("test.parameter", "x"))).isNotNull();
  }

  @Test
  void twoOfOneNameAreRefused() {
    assertThatThrownBy(() -> new PolicyRegistry(List.of(provider("age"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("two migration policies are named 'age'");
    assertThatThrownBy(() -> new PolicyRegistry(List.of(provider("My Policy"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'My Policy'");
  }

  private static MigrationPolicyProvider provider(String name) {
    return new MigrationPolicyProvider() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public MigrationPolicy create(Map<String, String> parameters) {
        return snapshot -> List.of();
      }
    };
  }

  /** Found through META-INF/services. */
  public static final class TestProvider implements MigrationPolicyProvider {
    @Override
    public String name() {
      return "test-policy";
    }

    @Override
    public Set<String> parameters() {
      return Set.of("test.parameter");
    }

    @Override
    public MigrationPolicy create(Map<String, String> parameters) {
      return new MigrationPolicy() {
        @Override
        public List<Move> plan(TierSnapshot snapshot) {
          return List.of();
        }
      };
    }
  }
}
