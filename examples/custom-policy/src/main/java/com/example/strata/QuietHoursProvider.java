package com.example.strata;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import java.time.DateTimeException;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Makes {@link QuietHours}. Named in {@code
 * META-INF/services/io.strata.kafka.api.MigrationPolicyProvider}, or Strata does not find it.
 */
public final class QuietHoursProvider implements MigrationPolicyProvider {

  private static final String FROM = "quiet.from";
  private static final String TO = "quiet.to";
  private static final String ZONE = "quiet.zone";

  /** For the service loader. */
  public QuietHoursProvider() {}

  @Override
  public String name() {
    return "quiet-hours";
  }

  @Override
  public Set<String> parameters() {
    return Set.of(FROM, TO, ZONE);
  }

  @Override
  public MigrationPolicy create(Map<String, String> parameters) {
    return new QuietHours(
        read(
            FROM, parameters.getOrDefault(FROM, "22:00"), LocalTime::parse, "a time such as 22:00"),
        read(TO, parameters.getOrDefault(TO, "06:00"), LocalTime::parse, "a time such as 06:00"),
        read(
            ZONE,
            parameters.getOrDefault(ZONE, "UTC"),
            ZoneId::of,
            "a zone such as Europe/Berlin"));
  }

  /** One clear error: the key, what was found, what is expected. */
  private static <T> T read(String name, String text, Function<String, T> reader, String expected) {
    try {
      return reader.apply(text.strip());
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "strata.migration.policy." + name + ": '" + text + "', expected " + expected, e);
    }
  }
}
