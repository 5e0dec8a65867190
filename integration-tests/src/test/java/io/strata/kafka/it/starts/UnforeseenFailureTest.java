package io.strata.kafka.it.starts;

import static net.bytebuddy.matcher.ElementMatchers.isStatic;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.broker.BrokerTier;
import io.strata.kafka.broker.RemoteRuntime;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.implementation.ExceptionMethod;
import net.bytebuddy.matcher.ElementMatcher;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A start that fails in a way that nobody has foreseen ends like a refusal: the reason is the last
 * thing on the log, no log directory has changed, and the next start has every record. An Error is
 * put into each of the three places where Kafka calls into Strata while it starts.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnforeseenFailureTest {

  private static final String INJECTED = "injected by a test";

  @RegisterExtension final Workspace work = new Workspace();

  private final RecordLedger ledger = new RecordLedger("hot", 1, 1);
  private Path faults;
  private StockBroker broker;

  @BeforeAll
  void makeHotAndRemoteSegments() throws Exception {
    faults = work.folder("faults");
    TieredBrokers tier = TieredBrokers.over(work.folder("store"));
    broker =
        work.start(
            tier.withPools(work.folder("broker"), work.newPool("hot", "32MiB")).library(faults));
    Topics.create(broker, "hot", 1, TieredBrokers.topic());
    ledger.produce(broker.bootstrap(), 1_000, 1_000);
    broker.kill();
  }

  @Test
  void inTheReporter() throws Exception {
    assertRefused(BrokerProperties.class, named("difference"));
  }

  @Test
  void whenTheTierIsOpened() throws Exception {
    assertRefused(BrokerTier.class, named("open").and(isStatic()));
  }

  @Test
  void whenTheRemoteManagerIsConfigured() throws Exception {
    assertRefused(RemoteRuntime.class, named("clusterId"));
  }

  private void assertRefused(Class<?> where, ElementMatcher<? super MethodDescription> method)
      throws Exception {
    Path fault = inject(where, method);
    Fingerprint before = topicsAndCheckpoints();
    StockBroker.Refusal refusal;
    try {
      refusal = broker.startRefused();
    } finally {
      Files.delete(fault);
    }
    Refusals.assertWhileStarting(
        refusal, "found a failure that it does not foresee", INJECTED, "report the stack trace");
    assertThat(refusal.output()).contains("Stack trace of the failure");
    assertThat(topicsAndCheckpoints()).isEqualTo(before);

    StockBroker unused = broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(1_000);
    broker.kill();
  }

  /** Puts a class in front of the jar that is Strata's own but for one method, which throws. */
  private Path inject(Class<?> where, ElementMatcher<? super MethodDescription> method)
      throws IOException {
    byte[] spoiled =
        new ByteBuddy()
            .redefine(where, ClassFileLocator.ForClassLoader.of(where.getClassLoader()))
            .method(method)
            .intercept(ExceptionMethod.throwing(NoClassDefFoundError.class, INJECTED))
            .make()
            .getBytes();
    Path file = faults.resolve(where.getName().replace('.', '/') + ".class");
    Files.createDirectories(file.getParent());
    return Files.write(file, spoiled);
  }

  /** Everything in the log directory but the controller's own log, which grows with each start. */
  private Fingerprint topicsAndCheckpoints() throws IOException {
    Fingerprint all = Fingerprint.of(List.of(broker.logDirectory()));
    TreeMap<String, String> files = new TreeMap<>(all.files());
    files
        .keySet()
        .removeIf(
            name -> name.equals(broker.logDirectory().toString()) || name.contains("/__cluster_"));
    return new Fingerprint(files);
  }
}
