package io.strata.kafka.config;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The declaration of one key: everything that the parser, the messages and the reference page know
 * of it.
 *
 * <p>A key's name may have one placeholder, as in {@code strata.tier.<name>.pools}: it then
 * declares all keys that have a word in its place. {@link #partOf} finds that word, {@link #with}
 * makes the key of a word.
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

  /** The placeholder of a word in a name. */
  private static final Pattern PLACEHOLDER = Pattern.compile("<[a-z]+>");

  /** The words that may stand in a placeholder's place. */
  private static final String WORD = "([A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*)";

  private final String name;
  private final String type;
  private final Optional<String> defaultValue;
  private final Optional<String> otherwise;
  private final String expected;
  private final String documentation;
  private final String since;
  private final boolean dynamic;
  private final Parser<T> parser;

  private StrataKey(Builder<T> builder) {
    this.name = builder.name;
    this.type = builder.type;
    this.defaultValue = builder.defaultValue;
    this.otherwise = builder.otherwise;
    this.expected = builder.expected;
    this.documentation = builder.documentation;
    this.since = builder.since;
    this.dynamic = builder.dynamic;
    this.parser = builder.parser;
  }

  private StrataKey(StrataKey<T> pattern, String name) {
    this.name = name;
    this.type = pattern.type;
    this.defaultValue = pattern.defaultValue;
    this.otherwise = pattern.otherwise;
    this.expected = pattern.expected;
    this.documentation = pattern.documentation;
    this.since = pattern.since;
    this.dynamic = pattern.dynamic;
    this.parser = pattern.parser;
  }

  /** The key, for example {@code strata.pool.type}. */
  public String name() {
    return name;
  }

  /** The type's name for the reader: {@code boolean}, {@code list of files}. */
  public String type() {
    return type;
  }

  /** Whether the name has a placeholder: it stands for many keys, and no key has this name. */
  public boolean patterned() {
    return PLACEHOLDER.matcher(name).find();
  }

  /** Whether this is the key of that name, or, with a placeholder, whether the name fits it. */
  boolean matches(String actual) {
    return patterned() ? partOf(actual).isPresent() : name.equals(actual);
  }

  /** The word in the placeholder's place in {@code actual}; empty if it is no such key. */
  public Optional<String> partOf(String actual) {
    Matcher placeholder = PLACEHOLDER.matcher(name);
    if (!placeholder.find()) {
      return Optional.empty();
    }
    Matcher matcher =
        Pattern.compile(
                String.join(
                    WORD,
                    Pattern.quote(name.substring(0, placeholder.start())),
                    Pattern.quote(name.substring(placeholder.end()))))
            .matcher(actual);
    return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
  }

  /** The one key that has {@code part} in the placeholder's place. */
  public StrataKey<T> with(String part) {
    return new StrataKey<>(
        this, PLACEHOLDER.matcher(name).replaceFirst(Matcher.quoteReplacement(part)));
  }

  /**
   * The key that has, in the place of a placeholder amid the name, the part that another name has
   * there; this one if there is no such key.
   *
   * @param parts of the other name, between its dots
   */
  StrataKey<T> like(List<String> parts) {
    List<String> own = List.of(name.split("\\."));
    int place = own.indexOf(placeholder());
    if (place < 0 || place == own.size() - 1 || own.size() != parts.size()) {
      return this;
    }
    StrataKey<T> key = with(parts.get(place));
    return matches(key.name()) ? key : this;
  }

  /** The placeholder, or the whole name if there is none. */
  private String placeholder() {
    Matcher matcher = PLACEHOLDER.matcher(name);
    return matcher.find() ? matcher.group() : name;
  }

  /** The default as it would be written in the file; empty if there is no fixed one. */
  public Optional<String> defaultValue() {
    return defaultValue;
  }

  /** The effect of an absent key that has no fixed default, for the reader. */
  public Optional<String> otherwise() {
    return otherwise;
  }

  /** The values allowed, as a phrase that completes "expected ...". */
  public String expected() {
    return expected;
  }

  /** Describes the key, in whole sentences. */
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
    private Optional<String> otherwise = Optional.empty();
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

    Builder<T> otherwise(String phrase) {
      this.otherwise = Optional.of(phrase);
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
