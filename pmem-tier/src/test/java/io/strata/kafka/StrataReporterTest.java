package io.strata.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.broker.FailingConfiguration;
import io.strata.kafka.config.key.ConfigRefusedException;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.Reconfigurable;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.metrics.KafkaMetricsContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever fails below, a reporter throws nothing where Kafka calls it: it would drop all that is
 * stored at a level of the dynamic configuration.
 */
class StrataReporterTest {

  private static final Map<String, Object> CONFIGS = Map.of("node.id", "1");

  static Stream<Throwable> everyFailure() {
    return Stream.of(
        new IllegalStateException("no message"),
        new NullPointerException(),
        new ConfigException("of Kafka"),
        new ConfigRefusedException(List.of()),
        new IOException("a disk"),
        new NoClassDefFoundError("moved"),
        new ExceptionInInitializerError("once"),
        new StackOverflowError(),
        new OutOfMemoryError("heap"),
        new AssertionError("a fault"));
  }

  @ParameterizedTest
  @MethodSource("everyFailure")
  void reconfigureThrowsNothing(Throwable failure) {
    assertThatCode(() -> over(failure).reconfigure(CONFIGS)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @MethodSource("everyFailure")
  void reconfigurableConfigsThrowsNothing(Throwable failure) {
    assertThat(over(failure).reconfigurableConfigs()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("everyFailure")
  void closeThrowsNothing(Throwable failure) {
    assertThatCode(() -> over(failure).close()).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @MethodSource("everyFailure")
  void whatHasToDoWithMetricsThrowsNothing(Throwable failure) {
    StrataReporter reporter = over(failure);
    assertThatCode(
            () -> {
              reporter.contextChange(new KafkaMetricsContext("kafka.server"));
              reporter.init(List.of());
            })
        .doesNotThrowAnyException();
  }

  /** Only a refusal, of what an operator asks for, reaches Kafka. */
  @ParameterizedTest
  @MethodSource("everyFailure")
  void validationThrowsNothingButRefusals(Throwable failure) {
    if (failure instanceof ConfigRefusedException) {
      assertThatThrownBy(() -> over(failure).validateReconfiguration(CONFIGS))
          .isInstanceOf(ConfigException.class);
    } else {
      assertThatCode(() -> over(failure).validateReconfiguration(CONFIGS))
          .doesNotThrowAnyException();
    }
  }

  /** Kafka makes a reporter that metric.reporters has got on a live broker. */
  @ParameterizedTest
  @MethodSource("everyFailure")
  void configureOnALiveBrokerThrowsNothing(Throwable failure) {
    StrataReporter reporter = over(failure);
    assertThatCode(() -> new Reporters(reporter).reconfigure(failing(failure)))
        .doesNotThrowAnyException();
    assertThatCode(() -> new Reporters(reporter).reconfigure(CONFIGS)).doesNotThrowAnyException();
  }

  /** A broker that starts without what holds its records would lose them. */
  @Test
  void configureAtAStartRefuses() {
    assertThatThrownBy(() -> new StrataReporter().configure(CONFIGS))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("Strata's file system provider is not active");
  }

  /** As a plugin's class path brings them, or another system class loader. */
  @Test
  void aSecondCopyOfTheClassesRefuses() throws Exception {
    List<URL> classPath = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      classPath.add(new File(entry).toURI().toURL());
    }
    try (URLClassLoader loader =
        new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      Class<?> copy = loader.loadClass(StrataReporter.class.getName());
      Object reporter = copy.getConstructor().newInstance();
      assertThatThrownBy(() -> copy.getMethod("configure", Map.class).invoke(reporter, CONFIGS))
          .cause()
          .hasMessageContaining("Strata's classes were loaded by " + loader);
    }
  }

  private static StrataReporter over(Throwable failure) {
    return new StrataReporter(new FailingConfiguration(failure));
  }

  private static Map<String, Object> failing(Throwable failure) {
    return new AbstractMap<>() {
      @Override
      public Set<Entry<String, Object>> entrySet() {
        FailingConfiguration.<RuntimeException>rethrow(failure);
        return Set.of();
      }
    };
  }

  /** As Kafka's own, which makes reporters while it is reconfigured. */
  private record Reporters(StrataReporter made) implements Reconfigurable {
    @Override
    public Set<String> reconfigurableConfigs() {
      return Set.of();
    }

    @Override
    public void validateReconfiguration(Map<String, ?> configs) {}

    @Override
    public void reconfigure(Map<String, ?> configs) {
      made.configure(configs);
    }

    @Override
    public void configure(Map<String, ?> configs) {}
  }
}
