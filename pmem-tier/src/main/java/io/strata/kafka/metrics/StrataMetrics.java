package io.strata.kafka.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Statistic;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.strata.kafka.metrics.MetricGroup.Instance;
import io.strata.kafka.metrics.sink.BeanName;
import io.strata.kafka.metrics.sink.JmxSink;
import io.strata.kafka.metrics.sink.LatencyAttributes;
import io.strata.kafka.metrics.sink.MetricSink;
import io.strata.kafka.metrics.sink.YammerSink;
import io.strata.kafka.migration.MigrationStats.Latency;
import io.strata.kafka.migration.remote.RemoteStats;
import java.lang.management.ManagementFactory;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the metrics of the catalogue and the status of this process: in Kafka's own registry,
 * which shows them in JMX; in JMX alone where there is no such registry. Micrometer is between the
 * catalogue and the registry.
 *
 * <p>Values are read when a reporter asks for them; nothing runs in the background. A metric that
 * cannot be published or read is logged and missing, and nothing else fails for it.
 *
 * <p>Thread safety: all methods may be called by any thread. Readings take no lock of this
 * object's.
 */
public final class StrataMetrics implements AutoCloseable {

  private final Logger log;
  private final Supplier<List<String>> offline;
  private final Supplier<List<String>> leftOut;
  private final LongSupplier nanoTime;
  private final MeterRegistry registry = new SimpleMeterRegistry();

  private volatile Optional<Part<LocalSample>> local = Optional.empty();
  private volatile Optional<Part<RemoteStats>> remote = Optional.empty();

  @GuardedBy("this")
  private Optional<Part<Health>> broker = Optional.empty();

  /** One of the things that have metrics. */
  private record Part<F>(
      String broker,
      Supplier<F> sample,
      List<MetricGroup<F, ?>> groups,
      Supplier<Map<String, String>> settings,
      List<Meter> meters) {}

  /**
   * Publishes nothing yet.
   *
   * @param leftOut what of the dynamic configuration has no effect, and why
   */
  public StrataMetrics(Supplier<List<String>> leftOut) {
    this(
        sinkOfThisJvm(),
        new OfflineLogDirectories(ManagementFactory.getPlatformMBeanServer()),
        leftOut,
        System::nanoTime,
        LoggerFactory.getLogger("io.strata.kafka.metrics"));
  }

  /** With the names of the log directories that Kafka has taken offline. */
  StrataMetrics(
      MetricSink sink,
      Supplier<List<String>> offline,
      Supplier<List<String>> leftOut,
      LongSupplier nanoTime,
      Logger log) {
    this.offline = offline;
    this.leftOut = leftOut;
    this.nanoTime = nanoTime;
    this.log = log;
    registry.config().onMeterAdded(meter -> publish(sink, meter));
    registry.config().onMeterRemoved(meter -> sink.remove(BeanName.of(meter.getId())));
  }

  /** A broker's libraries are looked up once, here. */
  private static MetricSink sinkOfThisJvm() {
    try {
      return YammerSink.ofKafka();
    } catch (RuntimeException | LinkageError e) {
      // Also a SecurityException: a sealed or signed library lets no class into its package.
      return new JmxSink(ManagementFactory.getPlatformMBeanServer());
    }
  }

  /**
   * Publishes the metrics of the local tiers.
   *
   * @param brokerId the broker's number, as configured
   * @param source samples, which may cost time in proportion to the number of segments
   * @param settings what the engine works by, by key
   */
  public synchronized void local(
      String brokerId, Supplier<LocalSample> source, Supplier<Map<String, String>> settings) {
    local.ifPresent(this::withdraw);
    Part<LocalSample> part = part(brokerId, source, MetricCatalogue.LOCAL, settings);
    local = Optional.of(part);
    publish(part);
  }

  /**
   * Publishes the metrics of the remote tier, in the place of what was published before.
   *
   * @param brokerId the broker's number, as configured
   * @param source samples
   * @param settings what it works by, by key
   */
  public synchronized void remote(
      String brokerId, Supplier<RemoteStats> source, Supplier<Map<String, String>> settings) {
    remote.ifPresent(this::withdraw);
    Part<RemoteStats> part = part(brokerId, source, MetricCatalogue.REMOTE, settings);
    remote = Optional.of(part);
    publish(part);
  }

  private <F> Part<F> part(
      String brokerId,
      Supplier<F> source,
      List<MetricGroup<F, ?>> groups,
      Supplier<Map<String, String>> settings) {
    AtomicBoolean logged = new AtomicBoolean();
    Supplier<F> logging =
        () -> {
          try {
            F sample = source.get();
            logged.set(false);
            return sample;
          } catch (RuntimeException | LinkageError e) {
            if (!logged.getAndSet(true)) {
              log.warn("Metrics cannot be read: gauges are NaN until they can; logged once", e);
            }
            throw e;
          }
        };
    return new Part<>(
        brokerId, new Recent<>(logging, nanoTime), groups, settings, new ArrayList<>());
  }

  @GuardedBy("this")
  private void publish(Part<?> part) {
    register(part);
    if (broker.isEmpty()) {
      Part<Health> ofBroker =
          new Part<>("", this::health, MetricCatalogue.BROKER, Map::of, new ArrayList<>());
      broker = Optional.of(ofBroker);
      register(ofBroker);
      try {
        new StatusBean(this, InstantSource.system()).publish();
      } catch (RuntimeException | LinkageError e) {
        log.warn("The status of Strata is not published; 'strata status' does not find it", e);
      }
    }
  }

  @GuardedBy("this")
  private <F> void register(Part<F> part) {
    for (MetricGroup<F, ?> group : part.groups()) {
      try {
        register(part, group);
      } catch (RuntimeException | LinkageError e) {
        log.warn("Metrics of the type {} are not published", group.type(), e);
      }
    }
  }

  @GuardedBy("this")
  private <F, S> void register(Part<F> part, MetricGroup<F, S> group) {
    for (Instance<F, S> instance : group.instances().apply(part.sample().get())) {
      Supplier<Optional<S>> source = () -> instance.read().apply(part.sample().get());
      List<Tag> tags = new ArrayList<>();
      group.tagsOf(instance).forEach((name, value) -> tags.add(Tag.of(name, value)));
      for (Metric<S> metric : group.metrics()) {
        part.meters().add(register(group.type(), metric, tags, source));
      }
    }
  }

  @GuardedBy("this")
  private <S> Meter register(
      String type, Metric<S> metric, List<Tag> tags, Supplier<Optional<S>> source) {
    String name = type + "." + metric.name();
    // The registry refers weakly to what it reads from: to a constant of the catalogue.
    if (metric instanceof Metric.OfGauge<S> gauge) {
      return Gauge.builder(name, gauge, g -> read(source, g.value()).orElse(Double.NaN))
          .tags(tags)
          .description(metric.meaning())
          .register(registry);
    }
    if (metric instanceof Metric.OfCounter<S> counter) {
      return FunctionCounter.builder(name, counter, c -> read(source, c.value()).orElse(0))
          .tags(tags)
          .description(metric.meaning())
          .register(registry);
    }
    Metric.OfLatency<S> latency = (Metric.OfLatency<S>) metric;
    return Meter.builder(
            name,
            Meter.Type.TIMER,
            new Durations(() -> source.get().map(latency.value()).orElse(Latency.NONE)))
        .tags(tags)
        .description(metric.meaning())
        .register(registry);
  }

  /** Durations as Micrometer has them of a meter whose values are kept elsewhere. */
  private record Durations(Supplier<Latency> latency) implements Iterable<Measurement> {
    @Override
    public Iterator<Measurement> iterator() {
      return List.of(
              new Measurement(() -> (double) latency.get().count(), Statistic.COUNT),
              new Measurement(() -> latency.get().totalNanos() / 1e9, Statistic.TOTAL_TIME),
              new Measurement(() -> latency.get().maxNanos() / 1e9, Statistic.MAX))
          .iterator();
    }
  }

  /** Empty if the value cannot be read; the reader gets no error. */
  private <S> OptionalDouble read(Supplier<Optional<S>> source, ToDoubleFunction<S> value) {
    try {
      Optional<S> thing = source.get();
      return OptionalDouble.of(thing.isEmpty() ? 0 : value.applyAsDouble(thing.get()));
    } catch (RuntimeException | LinkageError e) {
      log.debug("A metric could not be read", e);
      return OptionalDouble.empty();
    }
  }

  private Latency read(Supplier<Latency> latency) {
    try {
      return latency.get();
    } catch (RuntimeException | LinkageError e) {
      log.debug("A distribution could not be read", e);
      return Latency.NONE;
    }
  }

  private void publish(MetricSink sink, Meter meter) {
    BeanName name = BeanName.of(meter.getId());
    try {
      if (meter instanceof Gauge gauge) {
        sink.gauge(name, gauge::value);
      } else if (meter instanceof FunctionCounter counter) {
        AtomicLong highest = new AtomicLong(); // a counter never falls
        sink.counter(name, () -> highest.accumulateAndGet((long) counter.count(), Math::max));
      } else if (meter.measure() instanceof Durations durations) {
        sink.latency(name, () -> read(durations.latency()));
      }
    } catch (RuntimeException | LinkageError e) {
      log.warn("Metric {} is not published", name.objectName(), e);
    }
  }

  @GuardedBy("this")
  private void withdraw(Part<?> part) {
    for (Meter meter : part.meters()) {
      Meter unused = registry.remove(meter);
    }
  }

  /**
   * Returns whether what is promised holds, of all that is published. A part that cannot be read
   * does not hide the other one.
   */
  Health health() {
    List<String> unknown = new ArrayList<>();
    return Health.of(
        sampleOf(local, "the local tiers", unknown),
        sampleOf(remote, "the remote tier", unknown),
        offline.get(),
        unknown,
        leftOut.get());
  }

  private static <F> Optional<F> sampleOf(
      Optional<Part<F>> part, String what, List<String> unknown) {
    Optional<F> sample = part.flatMap(StrataMetrics::sampleOf);
    if (part.isPresent() && sample.isEmpty()) {
      unknown.add(what);
    }
    return sample;
  }

  /** Empty if it cannot be taken, which the part has logged. */
  private static <F> Optional<F> sampleOf(Part<F> part) {
    try {
      return Optional.of(part.sample().get());
    } catch (RuntimeException | LinkageError e) {
      return Optional.empty();
    }
  }

  /** The broker's number, as configured; the empty string if it is not. */
  String brokerId() {
    return local.map(Part::broker).or(() -> remote.map(Part::broker)).orElse("");
  }

  /** The settings of both, by key. */
  Map<String, String> settings() {
    Map<String, String> all = new LinkedHashMap<>();
    local.ifPresent(part -> all.putAll(part.settings().get()));
    remote.ifPresent(part -> all.putAll(part.settings().get()));
    return all;
  }

  /**
   * The values of the catalogue: by type and tags ({@code Tier,tier=hot}), then by name. A
   * distribution has a value for each attribute ({@code LatencySeconds.Mean}). Unknown values are
   * missing.
   */
  Map<String, Map<String, Double>> values() {
    Map<String, Map<String, Double>> all = new LinkedHashMap<>();
    local.ifPresent(part -> add(all, part));
    remote.ifPresent(part -> add(all, part));
    return all;
  }

  private static <F> void add(Map<String, Map<String, Double>> all, Part<F> part) {
    sampleOf(part).ifPresent(sample -> part.groups().forEach(group -> add(all, group, sample)));
  }

  private static <F, S> void add(
      Map<String, Map<String, Double>> all, MetricGroup<F, S> group, F sample) {
    for (Instance<F, S> instance : group.instances().apply(sample)) {
      Optional<S> thing = instance.read().apply(sample);
      if (thing.isEmpty()) {
        continue;
      }
      StringBuilder key = new StringBuilder(group.type());
      group.tagsOf(instance).forEach((tag, value) -> key.append(",%s=%s".formatted(tag, value)));
      Map<String, Double> values =
          all.computeIfAbsent(key.toString(), unused -> new LinkedHashMap<>());
      group.metrics().forEach(metric -> add(values, metric, thing.get()));
    }
  }

  private static <S> void add(Map<String, Double> values, Metric<S> metric, S thing) {
    if (metric instanceof Metric.OfLatency<S> latency) {
      Latency now = latency.value().apply(thing);
      LatencyAttributes.ALL.forEach(
          (attribute, read) ->
              values.put(metric.name() + "." + attribute, read.apply(now).doubleValue()));
      return;
    }
    double value =
        metric instanceof Metric.OfGauge<S> gauge
            ? gauge.value().applyAsDouble(thing)
            : ((Metric.OfCounter<S>) metric).value().applyAsDouble(thing);
    if (Double.isFinite(value)) {
      values.put(metric.name(), value);
    }
  }

  /** Withdraws all metrics; without effect when closed. */
  @Override
  public synchronized void close() {
    local.ifPresent(this::withdraw);
    remote.ifPresent(this::withdraw);
    broker.ifPresent(this::withdraw);
    local = Optional.empty();
    remote = Optional.empty();
    broker = Optional.empty();
    registry.close();
  }
}
