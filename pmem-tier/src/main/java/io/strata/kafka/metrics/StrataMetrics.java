package io.strata.kafka.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.strata.kafka.metrics.Metric.Group;
import io.strata.kafka.metrics.Metric.Group.Instance;
import io.strata.kafka.migration.remote.RemoteStats;
import java.lang.management.ManagementFactory;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the metrics of the catalogue and the status of this process: in Kafka's own registry,
 * which shows them in JMX; in JMX alone where there is no such registry. Micrometer is between the
 * catalogue and the registry.
 *
 * <p>Values are read when a reporter asks for them, all at once; nothing runs in the background. A
 * metric that cannot be published or read is logged and missing, and nothing else fails for it.
 *
 * <p>Thread safety: all methods may be called by any thread. Readings take no lock of this
 * object's.
 */
public final class StrataMetrics implements StatusMXBean, AutoCloseable {

  private static final String BROKER = "the broker";
  private static final String DIRECTORY = "logDirectory";
  private static final String OFFLINE =
      "kafka.log:type=LogManager,name=LogDirectoryOffline,%s=*".formatted(DIRECTORY);

  private static final String UNREADABLE =
      "Metrics cannot be read: gauges are NaN until they can; logged once";

  private final Logger log;
  private final Supplier<List<String>> offline;
  private final Supplier<List<String>> leftOut;
  private final LongSupplier nanoTime;
  private final InstantSource clock;
  private final MeterRegistry registry = new SimpleMeterRegistry();

  private volatile Optional<Part<LocalSample>> local = Optional.empty();
  private volatile Optional<Part<RemoteStats>> remote = Optional.empty();
  private volatile Supplier<Snapshot> recent;

  /** The names of the sources that could not be read last, which has been logged. */
  private final Set<String> unread = ConcurrentHashMap.newKeySet();

  @GuardedBy("this")
  private final List<Meter> ofBroker = new ArrayList<>();

  private record Part<F>(
      String name,
      String broker,
      Supplier<F> source,
      List<Group<F, ?>> groups,
      Supplier<Map<String, String>> settings,
      List<Meter> meters) {}

  /**
   * All values at one moment.
   *
   * @param values by type and tags, then by name; of a distribution by name and attribute
   * @param unknown the names of the parts that cannot be read
   */
  private record Snapshot(
      long timeMillis,
      Map<String, Map<String, Double>> values,
      List<String> unknown,
      Health health) {}

  /** Publishes nothing yet; asks what of the dynamic configuration has no effect, and why. */
  public StrataMetrics(Supplier<List<String>> leftOut) {
    this(
        sinkOfThisJvm(),
        () -> offlineIn(ManagementFactory.getPlatformMBeanServer()),
        leftOut,
        System::nanoTime,
        InstantSource.system(),
        LoggerFactory.getLogger("io.strata.kafka.metrics"));
  }

  StrataMetrics(
      MetricSink sink,
      Supplier<List<String>> offline,
      Supplier<List<String>> leftOut,
      LongSupplier nanoTime,
      InstantSource clock,
      Logger log) {
    this.offline = offline;
    this.leftOut = leftOut;
    this.nanoTime = nanoTime;
    this.clock = clock;
    this.log = log;
    recent = new Recent<>(this::take, nanoTime);
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
    local.ifPresent(part -> withdraw(part.meters()));
    Part<LocalSample> part =
        part("the local tiers", brokerId, source, MetricCatalogue.LOCAL, settings);
    local = Optional.of(part);
    publish(part);
  }

  /** As {@link #local}, of the remote tier, in the place of what was published before. */
  public synchronized void remote(
      String brokerId, Supplier<RemoteStats> source, Supplier<Map<String, String>> settings) {
    remote.ifPresent(part -> withdraw(part.meters()));
    Part<RemoteStats> part =
        part("the remote tier", brokerId, source, MetricCatalogue.REMOTE, settings);
    remote = Optional.of(part);
    publish(part);
  }

  private static <F> Part<F> part(
      String name,
      String brokerId,
      Supplier<F> source,
      List<Group<F, ?>> groups,
      Supplier<Map<String, String>> settings) {
    return new Part<>(name, brokerId, source, groups, settings, new ArrayList<>());
  }

  @GuardedBy("this")
  private void publish(Part<?> part) {
    recent = new Recent<>(this::take, nanoTime); // the kept values are of other things
    boolean unused = unread.remove(part.name());
    register(part);
    if (ofBroker.isEmpty()) {
      register(new Part<>(BROKER, "", this::health, MetricCatalogue.BROKER, Map::of, ofBroker));
      publishStatus();
    }
  }

  /** Publishes the status in the platform's MBean server, in the place of an earlier one. */
  private void publishStatus() {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    try {
      ObjectName object = new ObjectName(NAME);
      if (server.isRegistered(object)) {
        server.unregisterMBean(object);
      }
      var unused = server.registerMBean(this, object);
    } catch (JMException | RuntimeException | LinkageError e) {
      log.warn("The status of Strata is not published; 'strata status' does not find it", e);
    }
  }

  @GuardedBy("this")
  private <F> void register(Part<F> part) {
    Supplier<F> sample = new Recent<>(part.source(), nanoTime);
    for (Group<F, ?> group : part.groups()) {
      try {
        register(part, group, sample);
      } catch (RuntimeException | LinkageError e) {
        log.warn("Metrics of the type {} are not published", group.type(), e);
      }
    }
  }

  @GuardedBy("this")
  private <F, S> void register(Part<F> part, Group<F, S> group, Supplier<F> sample) {
    for (Instance<S> instance : group.instances().apply(sample.get())) {
      for (Metric<S> metric : group.metrics()) {
        part.meters().add(register(part.name(), group.name(instance, metric.name()), metric));
      }
    }
  }

  @GuardedBy("this")
  private Meter register(String part, BeanName bean, Metric<?> metric) {
    String name = bean.type() + "." + bean.name();
    String thing = bean.thing();
    List<Tag> tags = new ArrayList<>();
    bean.tags().forEach((key, value) -> tags.add(Tag.of(key, value)));
    ToDoubleFunction<StrataMetrics> value = from -> from.value(part, thing, metric.name());
    return switch (metric.kind()) {
      case GAUGE -> Gauge.builder(name, this, value).tags(tags).register(registry);
      case COUNTER -> FunctionCounter.builder(name, this, value).tags(tags).register(registry);
      case DISTRIBUTION ->
          Meter.builder(
                  name,
                  Meter.Type.TIMER,
                  new Durations(attribute -> value(part, thing, metric.name() + "." + attribute)))
              .tags(tags)
              .register(registry);
    };
  }

  /** Durations that are kept elsewhere; nobody asks Micrometer for its measurements of them. */
  private record Durations(ToDoubleFunction<String> attributes) implements Iterable<Measurement> {
    @Override
    public Iterator<Measurement> iterator() {
      return Collections.emptyIterator();
    }
  }

  /** 0 where there is nothing to read; NaN if it cannot be read. */
  private double value(String part, String thing, String name) {
    Snapshot now = recent.get();
    return now.unknown().contains(part)
        ? Double.NaN
        : now.values().getOrDefault(thing, Map.of()).getOrDefault(name, 0.0);
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
        sink.distribution(name, durations.attributes());
      }
    } catch (RuntimeException | LinkageError e) {
      log.warn("Metric {} is not published", name.objectName(), e);
    }
  }

  @GuardedBy("this")
  private void withdraw(List<Meter> meters) {
    for (Meter meter : meters) {
      Meter unused = registry.remove(meter);
    }
    meters.clear();
  }

  /** Reads all that is published. A part that cannot be read does not hide the other one. */
  private Snapshot take() {
    long millis = clock.millis();
    Map<String, Map<String, Double>> values = new LinkedHashMap<>();
    List<String> unknown = new ArrayList<>();
    Optional<LocalSample> tiers = local.flatMap(part -> read(part, values, unknown));
    Optional<RemoteStats> store = remote.flatMap(part -> read(part, values, unknown));
    List<String> directories = known(offline, "Kafka's log directories", unknown);
    List<String> without = known(leftOut, "the dynamic configuration", unknown);
    Health health = Health.of(tiers, store, directories, unknown, without);
    MetricCatalogue.BROKER.forEach(group -> add(values, group, health, new ArrayList<>()));
    return new Snapshot(millis, values, unknown, health);
  }

  private List<String> known(Supplier<List<String>> source, String name, List<String> unknown) {
    try {
      List<String> found = source.get();
      boolean unused = unread.remove(name);
      return found;
    } catch (RuntimeException | LinkageError e) {
      warn(name, "The state of " + name + " cannot be read; logged once", e);
      unknown.add(name);
      return List.of();
    }
  }

  private <F> Optional<F> read(
      Part<F> part, Map<String, Map<String, Double>> values, List<String> unknown) {
    try {
      F sample = part.source().get();
      Map<String, Map<String, Double>> own = new LinkedHashMap<>();
      List<Throwable> failures = new ArrayList<>();
      part.groups().forEach(group -> add(own, group, sample, failures));
      values.putAll(own);
      if (failures.isEmpty()) {
        boolean unused = unread.remove(part.name());
      } else {
        warn(part.name(), UNREADABLE, failures.get(0));
      }
      return Optional.of(sample);
    } catch (RuntimeException | LinkageError e) {
      warn(part.name(), UNREADABLE, e);
      unknown.add(part.name());
      return Optional.empty();
    }
  }

  /** Logs that a source cannot be read, if it could be before. */
  private void warn(String name, String message, Throwable failure) {
    if (unread.add(name)) {
      log.warn(message, failure);
    }
  }

  /** Adds the values of a group; one that cannot be read is NaN. */
  private static <F, S> void add(
      Map<String, Map<String, Double>> all, Group<F, S> group, F sample, List<Throwable> failures) {
    for (Instance<S> instance : group.instances().apply(sample)) {
      instance
          .thing()
          .ifPresent(
              thing -> {
                Map<String, Double> values =
                    all.computeIfAbsent(
                        group.name(instance, "").thing(), unused -> new LinkedHashMap<>());
                for (Metric<S> metric : group.metrics()) {
                  try {
                    values.putAll(metric.read().apply(thing));
                  } catch (RuntimeException | LinkageError e) {
                    Double unused = values.put(metric.name(), Double.NaN);
                    failures.add(e);
                  }
                }
              });
    }
  }

  /**
   * The log directories that Kafka has taken offline, as its own metrics have them; none where
   * Kafka does not run, or does not publish these metrics.
   */
  static List<String> offlineIn(MBeanServer server) {
    try {
      return server.queryNames(new ObjectName(OFFLINE), null).stream()
          .filter(bean -> isOffline(server, bean))
          .map(bean -> bean.getKeyProperty(DIRECTORY))
          .map(value -> value.startsWith("\"") ? ObjectName.unquote(value) : value)
          .sorted()
          .toList();
    } catch (MalformedObjectNameException e) {
      throw new IllegalStateException(OFFLINE, e);
    }
  }

  private static boolean isOffline(MBeanServer server, ObjectName bean) {
    try {
      return server.getAttribute(bean, "Value") instanceof Number value && value.intValue() != 0;
    } catch (JMException gone) {
      return false; // Kafka is going down.
    }
  }

  /** Returns whether what is promised holds, of all that is published. */
  Health health() {
    return recent.get().health();
  }

  @Override
  public String getVersion() {
    return Optional.ofNullable(StrataMetrics.class.getPackage().getImplementationVersion())
        .orElse("(not built as a jar)");
  }

  @Override
  public String getBroker() {
    return local.map(Part::broker).or(() -> remote.map(Part::broker)).orElse("");
  }

  @Override
  public long getPid() {
    return ProcessHandle.current().pid();
  }

  @Override
  public long getTimeMillis() {
    return recent.get().timeMillis();
  }

  @Override
  public int getHealth() {
    return health().value();
  }

  @Override
  public List<String> getReasons() {
    return health().reasons();
  }

  @Override
  public Map<String, Map<String, Double>> getMetrics() {
    Map<String, Map<String, Double>> known = new LinkedHashMap<>();
    recent
        .get()
        .values()
        .forEach(
            (thing, values) -> {
              if (!thing.equals("Broker")) {
                Map<String, Double> finite = new LinkedHashMap<>(values);
                finite.values().removeIf(value -> !Double.isFinite(value));
                known.put(thing, finite);
              }
            });
    return known;
  }

  @Override
  public Map<String, String> getSettings() {
    Map<String, String> all = new LinkedHashMap<>();
    local.ifPresent(part -> all.putAll(part.settings().get()));
    remote.ifPresent(part -> all.putAll(part.settings().get()));
    return all;
  }

  /** Withdraws all metrics; without effect when closed. */
  @Override
  public synchronized void close() {
    local.ifPresent(part -> withdraw(part.meters()));
    remote.ifPresent(part -> withdraw(part.meters()));
    withdraw(ofBroker);
    local = Optional.empty();
    remote = Optional.empty();
    registry.close();
  }
}
