package io.strata.kafka.migration.plan;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.api.TierUsage;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The policies that {@code strata.migration.policy} can name: the built-in ones, and those of
 * others that are on the class path.
 *
 * <p>Thread safety: safe for use by several threads; a provider is called by one at a time.
 */
public final class PolicyRegistry {

  private static final Pattern NAME = Pattern.compile("[a-z0-9]+(-[a-z0-9]+)*");

  private static final List<MigrationPolicyProvider> BUILT_IN =
      List.of(
          new BuiltIn("newest", Set.of(), values -> OldestFirst::newestStay),
          new BuiltIn("age", Set.of(AgePolicy.AFTER), AgePolicy::new),
          new BuiltIn("access", Set.of(AccessPolicy.READ_SHARE), AccessPolicy::new));

  private record BuiltIn(
      String name, Set<String> parameters, Function<Map<String, String>, MigrationPolicy> maker)
      implements MigrationPolicyProvider {

    @Override
    public MigrationPolicy create(Map<String, String> values) {
      return maker.apply(values);
    }
  }

  private final Map<String, MigrationPolicyProvider> providers;

  /**
   * A registry of the built-in policies and some others.
   *
   * @throws IllegalArgumentException if a name is taken or is none
   */
  public PolicyRegistry(List<MigrationPolicyProvider> others) {
    List<MigrationPolicyProvider> all = new ArrayList<>(BUILT_IN);
    all.addAll(others);
    Map<String, MigrationPolicyProvider> byName = new TreeMap<>();
    for (MigrationPolicyProvider provider : all) {
      String name = requireNonNull(provider.name(), () -> provider.getClass() + ".name()");
      if (!NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            """
            the migration policy provider %s calls itself '%s', expected lower-case letters, \
            digits and hyphens\
            """
                .formatted(provider.getClass().getName(), name));
      }
      MigrationPolicyProvider other = byName.put(name, provider);
      if (other != null) {
        throw new IllegalArgumentException(
            """
            two migration policies are named '%s': %s and %s; rename one, or take its jar off the \
            class path\
            """
                .formatted(name, other.getClass().getName(), provider.getClass().getName()));
      }
    }
    this.providers = byName;
  }

  public static PolicyRegistry builtIn() {
    return new PolicyRegistry(List.of());
  }

  /**
   * A registry of the built-in policies and all that a class loader finds in {@code
   * META-INF/services}.
   *
   * @throws IllegalArgumentException if a name is taken or is none, or a provider cannot be made
   */
  public static PolicyRegistry load(ClassLoader loader) {
    List<MigrationPolicyProvider> found = new ArrayList<>();
    try {
      ServiceLoader.load(MigrationPolicyProvider.class, loader).forEach(found::add);
    } catch (ServiceConfigurationError | LinkageError e) {
      throw new IllegalArgumentException(
          "a migration policy on the class path cannot be used: " + e, e);
    }
    return new PolicyRegistry(found);
  }

  /** The names of all policies, in order. */
  public Set<String> names() {
    return new TreeSet<>(providers.keySet());
  }

  /** The names of the parameters of all policies, in order. */
  public synchronized Set<String> parameterNames() {
    Set<String> names = new TreeSet<>();
    providers.values().forEach(provider -> names.addAll(provider.parameters()));
    return names;
  }

  /** The names of one policy's parameters, in order; none if there is no such policy. */
  public synchronized Set<String> parameterNames(String policy) {
    MigrationPolicyProvider provider = providers.get(policy);
    return provider == null ? Set.of() : new TreeSet<>(provider.parameters());
  }

  /**
   * The parameters of one policy among those of several: an operator may leave those of others in
   * the configuration, to choose these policies later.
   */
  public Map<String, String> own(String policy, Map<String, String> all) {
    Map<String, String> own = new TreeMap<>(all);
    own.keySet().retainAll(parameterNames(policy));
    return own;
  }

  /**
   * Makes a policy.
   *
   * @param name what {@code strata.migration.policy} is set to
   * @param parameters values by name
   * @throws IllegalArgumentException if there is no such policy, it has no such parameter, or a
   *     value cannot be used
   */
  public synchronized MigrationPolicy create(String name, Map<String, String> parameters) {
    MigrationPolicyProvider provider = providers.get(name);
    if (provider == null) {
      throw new IllegalArgumentException(
          "migration policy '%s': found no such policy, expected one of %s"
              .formatted(name, names()));
    }
    Set<String> known = parameterNames(name);
    for (String parameter : new TreeSet<>(parameters.keySet())) {
      if (!known.contains(parameter)) {
        throw new IllegalArgumentException(
            "migration policy '%s': no parameter '%s', expected %s"
                .formatted(name, parameter, known.isEmpty() ? "none" : "one of " + known));
      }
    }
    MigrationPolicy policy = provider.create(Map.copyOf(parameters));
    return requireNonNull(policy, () -> provider.getClass() + ".create()");
  }

  /**
   * A sealed segment leaves a tier when it has not changed for a time. Younger segments move as
   * with {@link OldestFirst#newestStay newest}, since space must never run out.
   */
  static final class AgePolicy implements MigrationPolicy {

    /** The time, or one for each tier; the last is that of all further ones. */
    static final String AFTER = "after";

    private static final Pattern DURATION = Pattern.compile("(\\d{1,12})\\s*(ms|s|m|h|d)?");

    private static final Map<String, ChronoUnit> UNITS =
        Map.of(
            "ms", ChronoUnit.MILLIS,
            "s", ChronoUnit.SECONDS,
            "m", ChronoUnit.MINUTES,
            "h", ChronoUnit.HOURS,
            "d", ChronoUnit.DAYS);

    /** A segment comes back up only if it can stay for a tenth of the time. */
    private static final double YOUNG = 0.9;

    private final List<Long> afterMillis;

    /** With the values of the parameters; throws IllegalArgumentException if one is no duration. */
    AgePolicy(Map<String, String> parameters) {
      String text = parameters.getOrDefault(AFTER, "1h");
      afterMillis = Stream.of(text.split(",", -1)).map(part -> millis(part.strip(), text)).toList();
    }

    /** A duration above zero, such as {@code 90s}, in milliseconds; bare ones are such. */
    private static long millis(String part, String text) {
      Matcher matcher = DURATION.matcher(part);
      if (!matcher.matches() || Long.parseLong(matcher.group(1)) == 0) {
        throw new IllegalArgumentException(
            """
            strata.migration.policy.%s: '%s', expected durations above 0 such as 30m, or 10m,6h \
            for one in each tier (ms, s, m, h, d; without a unit milliseconds)\
            """
                .formatted(AFTER, text));
      }
      String unit = requireNonNullElse(matcher.group(2), "ms");
      long count = Long.parseLong(matcher.group(1));
      long millis = requireNonNull(UNITS.get(unit)).getDuration().toMillis();
      // Some write so many days for "never".
      return count > Long.MAX_VALUE / millis ? Long.MAX_VALUE : count * millis;
    }

    @Override
    public List<Move> plan(TierSnapshot snapshot) {
      OldestFirst order = new OldestFirst(snapshot, OldestFirst.ORDER);
      for (SegmentView segment : order.sealed) {
        int allowed = segment.tier();
        long age = snapshot.nowMillis() - segment.changedMillis();
        while (allowed < snapshot.logDirs() && age >= afterMillis(allowed)) {
          allowed++;
        }
        if (allowed > segment.tier()) {
          order.leave(segment, allowed);
        }
      }
      order.meetDemand();
      order.fillSpare(
          (segment, tier) ->
              !segment.found()
                  && snapshot.nowMillis() - segment.changedMillis() < YOUNG * afterMillis(tier));
      return order.moves;
    }

    private long afterMillis(int tier) {
      return afterMillis.get(Math.min(tier, afterMillis.size() - 1));
    }
  }

  /**
   * Keeps what is used: the order is by the last use, which is the last change, or the last read if
   * a noteworthy part of the segment has been read recently. One stray read of an old segment is no
   * use.
   *
   * <p>A segment in use below comes up, into spare space or in place of clean ones whose last use
   * is longer ago: a consumer that lags has its data hot from the first part of each segment on.
   */
  static final class AccessPolicy implements MigrationPolicy {

    /** The part of a segment that must have been read recently. */
    static final String READ_SHARE = "read.share";

    private static final double LEAST_READ_SHARE = 0.001;
    private static final double HIGHEST_READ_SHARE = 100;

    /**
     * The time by which a segment must have been used later to take another's place, or the two
     * would take turns.
     */
    static final long LATER_MILLIS = 60_000;

    /** The part of a tier that may be exchanged in one round. */
    private static final int EXCHANGE_PART = 16;

    private final double readShare;
    private final Comparator<SegmentView> order;

    /** With the values of the parameters; throws IllegalArgumentException if one is no share. */
    AccessPolicy(Map<String, String> parameters) {
      readShare = share(parameters.getOrDefault(READ_SHARE, "0.1"));
      order = Comparator.comparingLong(this::lastUse).thenComparing(OldestFirst.ORDER);
    }

    private static double share(String text) {
      double value;
      try {
        value = Double.parseDouble(text.strip());
      } catch (NumberFormatException e) {
        value = Double.NaN;
      }
      if (!(value >= LEAST_READ_SHARE && value <= HIGHEST_READ_SHARE)) {
        throw new IllegalArgumentException(
            "strata.migration.policy.%s: '%s', expected a number from %s to %s"
                .formatted(READ_SHARE, text, LEAST_READ_SHARE, HIGHEST_READ_SHARE));
      }
      return value;
    }

    private boolean isRead(SegmentView segment) {
      return segment.recentReadBytes() >= readShare * Math.max(1, segment.bytes());
    }

    private long lastUse(SegmentView segment) {
      return isRead(segment)
          ? Math.max(segment.changedMillis(), segment.readMillis())
          : segment.changedMillis();
    }

    @Override
    public Comparator<SegmentView> evictionOrder() {
      return order;
    }

    @Override
    public List<Move> plan(TierSnapshot snapshot) {
      OldestFirst plan = new OldestFirst(snapshot, order);
      plan.meetDemand();
      plan.fillSpare(
          (segment, tier) ->
              segment.tier() == tier || isRead(segment)); // to be whole needs no reads
      for (TierUsage tier : snapshot.tiers()) {
        exchange(plan, tier);
      }
      return plan.moves;
    }

    /** Plans promotions that evict clean segments which come first in the eviction order. */
    private void exchange(OldestFirst plan, TierUsage tier) {
      List<SegmentView> all = plan.sealed;
      List<SegmentView> clean =
          all.stream()
              .filter(s -> s.tier() == tier.tier() && s.clean() && !plan.isPlanned(s))
              .toList();
      long budget = tier.capacityBytes() / EXCHANGE_PART;
      long found = plan.spare[tier.tier()];
      int next = 0;
      for (int i = all.size() - 1; i >= 0 && budget > 0; i--) {
        SegmentView segment = all.get(i);
        if (segment.tier() <= tier.tier() || !isRead(segment) || !plan.mayRise(segment)) {
          continue;
        }
        long needed = PlannedTier.needed(segment);
        while (found < needed
            && next < clean.size()
            && lastUse(clean.get(next)) + LATER_MILLIS < lastUse(segment)) {
          found += clean.get(next++).cleanBytes();
        }
        if (found < needed) {
          return; // The rest was used longer ago still.
        }
        found -= needed;
        budget -= needed;
        plan.promoteBeyondSpare(segment, tier.tier());
      }
    }
  }
}
