package io.strata.kafka.config;

/**
 * A key that was set on a live broker and has no effect there.
 *
 * @param name the key
 * @param value its value, as it was set
 * @param reason why it has none
 */
public record IgnoredKey(String name, String value, String reason) {

  @Override
  public String toString() {
    return "%s (%s)".formatted(name, reason);
  }
}
