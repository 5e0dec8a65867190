package io.strata.kafka.migration.plan;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The policies that {@code strata.migration.policy} can name: the built-in ones, and those of
 * others that are on the class path.
 *
 * <p>Thread safety: immutable, and safe for use by several threads; a provider is called by one at
 * a time.
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

  /** A registry of the built-in policies alone. */
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
    } catch (ServiceConfigurationError e) {
      throw new IllegalArgumentException(
          "a migration policy on the class path cannot be used: " + e.getMessage(), e);
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
}
