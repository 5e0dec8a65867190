package io.strata.kafka.config;

import static java.util.Objects.requireNonNull;

import java.util.Optional;

/**
 * The declaration of one key: everything that the parser, the messages and the reference page know
 * of it.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param <T> the type of the parsed value
 */
public final class StrataKey<T> {

  /** Turns a trimmed value into what it means. */
  @FunctionalInterface
  interface Parser<T> {
    /**
     * Parses a value.
     *
     * @throws IllegalArgumentException if it is not of the type or out of range; the message says
     *     what exactly, or is empty when {@link StrataKey#expected()} says it all
     */
    T parse(String value);
  }

  private final String name;
  private final String type;
  private final Optional<String> defaultValue;
  private final String expected;
  private final String documentation;
  private final String since;
  private final boolean dynamic;
  private final Parser<T> parser;

  private StrataKey(Builder<T> builder) {
    this.name = builder.name;
    this.type = builder.type;
    this.defaultValue = builder.defaultValue;
    this.expected = builder.expected;
    this.documentation = builder.documentation;
    this.since = builder.since;
    this.dynamic = builder.dynamic;
    this.parser = builder.parser;
  }

  /** The key, for example {@code strata.pool.type}. */
  public String name() {
    return name;
  }

  /** The type's name for the reader: {@code boolean}, {@code list of files}. */
  public String type() {
    return type;
  }

  /** The default as it would be written in the file; empty if the key is required. */
  public Optional<String> defaultValue() {
    return defaultValue;
  }

  /** The values allowed, as a phrase that completes "expected ...". */
  public String expected() {
    return expected;
  }

  /** What the key does, in whole sentences. */
  public String documentation() {
    return documentation;
  }

  /** The first release that knows the key. */
  public String since() {
    return since;
  }

  /** Whether {@code kafka-configs.sh} may change it on a live broker. */
  public boolean dynamic() {
    return dynamic;
  }

  /**
   * Parses a value; surrounding white space is ignored.
   *
   * @throws IllegalArgumentException if the value is not allowed, with the whole message
   */
  T parse(String value) {
    return parser.parse(value.strip());
  }

  @Override
  public String toString() {
    return name;
  }

  static <T> Builder<T> named(String name, String type, Parser<T> parser) {
    return new Builder<>(name, type, parser);
  }

  /** Collects a declaration; not thread-safe. */
  static final class Builder<T> {
    private final String name;
    private final String type;
    private final Parser<T> parser;
    private Optional<String> defaultValue = Optional.empty();
    private String expected = "";
    private String documentation = "";
    private String since = "0.1.0";
    private boolean dynamic;

    private Builder(String name, String type, Parser<T> parser) {
      this.name = requireNonNull(name);
      this.type = requireNonNull(type);
      this.parser = requireNonNull(parser);
    }

    Builder<T> defaultValue(String value) {
      this.defaultValue = Optional.of(value);
      return this;
    }

    Builder<T> expected(String phrase) {
      this.expected = phrase;
      return this;
    }

    Builder<T> documentation(String text) {
      this.documentation = text;
      return this;
    }

    Builder<T> since(String release) {
      this.since = release;
      return this;
    }

    Builder<T> dynamic() {
      this.dynamic = true;
      return this;
    }

    StrataKey<T> build() {
      if (expected.isEmpty() || documentation.isEmpty()) {
        throw new IllegalStateException(name + ": expected values and documentation are missing");
      }
      StrataKey<T> key = new StrataKey<>(this);
      // A default that its own parser refuses is a mistake of ours; found at class loading.
      defaultValue.ifPresent(key::parse);
      return key;
    }
  }
}
