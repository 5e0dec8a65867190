package io.strata.kafka.config.key;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
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
 * @param name the key, for example {@code strata.pool.type}
 * @param defaultValue the default as it would be written in the file; empty if there is no fixed
 *     one
 * @param otherwise the effect of an absent key that has no fixed default, for the reader
 * @param dynamic whether {@code kafka-configs.sh} may change it on a live broker
 */
public record StrataKey<T>(
    String name,
    Kind<T> kind,
    Optional<String> defaultValue,
    Optional<String> otherwise,
    boolean dynamic,
    String documentation) {

  /**
   * A kind of values.
   *
   * @param type its name for the reader: {@code boolean}, {@code list of files}
   * @param expected the values allowed, as a phrase that completes "expected ..."
   * @param parser turns a trimmed value into what it means; throws IllegalArgumentException for one
   *     that is not of the type or out of range, with a message that says what exactly, or is empty
   *     when {@code expected} says it all
   */
  public record Kind<T>(String type, String expected, Function<String, T> parser) {}

  private static final Pattern PLACEHOLDER = Pattern.compile("<[a-z]+>");

  /** The words that may stand in a placeholder's place. */
  private static final String WORD = "([A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*)";

  /** The values allowed, as a phrase that completes "expected ...". */
  public String expected() {
    return kind.expected();
  }

  /** Returns whether the name has a placeholder: it stands for many keys, and is none. */
  public boolean patterned() {
    return PLACEHOLDER.matcher(name).find();
  }

  /** Returns whether this is the key of that name, or has a placeholder and the name fits. */
  public boolean matches(String actual) {
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
        PLACEHOLDER.matcher(name).replaceFirst(Matcher.quoteReplacement(part)),
        kind,
        defaultValue,
        otherwise,
        dynamic,
        documentation);
  }

  /**
   * The key that has, in the place of a placeholder amid the name, the part that another name has
   * there; this one if there is no such key.
   *
   * @param parts of the other name, between its dots
   */
  public StrataKey<T> like(List<String> parts) {
    List<String> own = List.of(name.split("\\."));
    for (int i = 0; i < own.size() - 1 && own.size() == parts.size(); i++) {
      if (PLACEHOLDER.matcher(own.get(i)).matches()) {
        StrataKey<T> key = with(parts.get(i));
        return matches(key.name()) ? key : this;
      }
    }
    return this;
  }

  /** Parses a value without the white space around it; an IllegalArgumentException says all. */
  public T parse(String value) {
    return kind.parser().apply(value.strip());
  }

  public Optional<T> parsedDefault() {
    return defaultValue.map(this::parse);
  }

  @Override
  public String toString() {
    return name;
  }

  /** Begins the declaration of a key, which {@link #documentation(String)} ends. */
  public static <T> StrataKey<T> named(String name, Kind<T> kind) {
    return new StrataKey<>(name, kind, Optional.empty(), Optional.empty(), false, "");
  }

  /** As that of a kind of its own, of which {@link #expected(String)} is still to be said. */
  public static <T> StrataKey<T> named(String name, String type, Function<String, T> parser) {
    return named(name, new Kind<>(type, "", parser));
  }

  public StrataKey<T> defaultValue(String value) {
    return new StrataKey<>(name, kind, Optional.of(value), otherwise, dynamic, documentation);
  }

  public StrataKey<T> otherwise(String phrase) {
    return new StrataKey<>(name, kind, defaultValue, Optional.of(phrase), dynamic, documentation);
  }

  /** The same with the values allowed, as a phrase that completes "expected ...". */
  public StrataKey<T> expected(String phrase) {
    Kind<T> said = new Kind<>(kind.type(), phrase, kind.parser());
    return new StrataKey<>(name, said, defaultValue, otherwise, dynamic, documentation);
  }

  public StrataKey<T> live() {
    return new StrataKey<>(name, kind, defaultValue, otherwise, true, documentation);
  }

  /** The same with the text that describes it. */
  public StrataKey<T> documentation(String text) {
    // A default that its own parser refuses is a mistake of ours; found at class loading.
    Optional<T> unused = parsedDefault();
    return new StrataKey<>(name, kind, defaultValue, otherwise, dynamic, text);
  }
}
