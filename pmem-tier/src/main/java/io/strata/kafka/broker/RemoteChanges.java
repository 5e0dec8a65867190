package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.config.LiveSettings;
import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies changes to the remote tier while it runs. Kafka makes the manager and the reporter, each
 * without knowledge of the other; here they meet.
 *
 * <p>Thread safety: all methods may be called by any thread; changes are made one after another.
 */
public final class RemoteChanges {

  /** The broker's log, of the remote tier's settings; the manager logs its segments' events. */
  static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.remote");

  private final Consumer<List<IgnoredKey>> wrong;

  @GuardedBy("this")
  private final Set<IgnoredKey> known = new HashSet<>();

  @GuardedBy("this")
  private @Nullable Running running;

  /** The listener; none between the manager's start and its registration. */
  @GuardedBy("this")
  private Optional<Consumer<RemoteSettings.Live>> changed = Optional.empty();

  /** Whether something changed while there was no listener. */
  @GuardedBy("this")
  private boolean missed;

  /** The configuration that the reporter got last: it may come before the manager. */
  @GuardedBy("this")
  private @Nullable Map<String, ?> lastConfigs;

  private record Running(
      int brokerId, LiveSettings<RemoteSettings.Live> keys, RemoteSettings.Live live) {}

  /** For no manager yet; hands on the keys that are left out because their values are wrong. */
  RemoteChanges(Consumer<List<IgnoredKey>> wrong) {
    this.wrong = wrong;
  }

  /**
   * Notes that a manager starts; it takes the place of an earlier one.
   *
   * @param started what its file says
   * @return what it is to work by: with what has been changed in the meantime
   */
  synchronized RemoteSettings.Live started(
      LiveSettings<RemoteSettings.Live> keys, RemoteSettings started) {
    RemoteSettings.Live settings = started.live();
    if (lastConfigs != null) {
      try {
        settings = read(keys, lastConfigs);
      } catch (RuntimeException e) {
        LOG.warn(
            "Dynamic configuration cannot be used, the remote tier works by the broker's file: {}",
            e.toString());
      }
    }
    running = new Running(started.brokerId(), keys, settings);
    changed = Optional.empty();
    missed = false;
    return settings;
  }

  synchronized void onChange(Consumer<RemoteSettings.Live> consumer) {
    changed = Optional.of(consumer);
    if (missed && running != null) {
      missed = false;
      consumer.accept(running.live());
    }
  }

  /** The names of the keys that Kafka has to ask about; none while there is no manager. */
  public synchronized Set<String> names() {
    return running == null ? Set.of() : running.keys().names();
  }

  synchronized OptionalInt brokerId() {
    return running == null ? OptionalInt.empty() : OptionalInt.of(running.brokerId());
  }

  /** The settings that the manager works by, as the keys would be written. */
  public synchronized Map<String, String> settings() {
    return running == null ? Map.of() : running.keys().written(running.live());
  }

  /** As {@link LiveSettings#validate}; without a manager nothing is refused. */
  public synchronized void validate(Map<String, ?> before, Map<String, ?> after)
      throws ConfigRefusedException {
    if (running != null) {
      running.keys().validate(before, after);
    }
  }

  /** Works by all keys that Kafka gives from now on. Values that are wrong are left out. */
  public synchronized void reconfigure(Map<String, ?> configs) {
    lastConfigs = configs;
    Running before = running;
    if (before == null) {
      return;
    }
    LiveSettings<RemoteSettings.Live> keys = before.keys();
    RemoteSettings.Live settings = read(keys, configs);
    if (settings.equals(before.live())) {
      return;
    }
    changed.ifPresentOrElse(consumer -> consumer.accept(settings), () -> missed = true);
    running = new Running(before.brokerId(), keys, settings);
    LOG.info(
        "The remote tier's settings changed on the live broker: {}",
        keys.difference(before.live(), settings));
  }

  @GuardedBy("this")
  private RemoteSettings.Live read(LiveSettings<RemoteSettings.Live> keys, Map<String, ?> configs) {
    LiveSettings.Usable<RemoteSettings.Live> read = keys.read(configs);
    List<String> useless = read.newlyUseless(known);
    if (!useless.isEmpty()) {
      LOG.warn(
          """
          Dynamic configuration that this broker's remote tier has no use for, left out: {}. Remove \
          it with kafka-configs.sh --delete-config.\
          """,
          String.join(", ", useless));
    }
    wrong.accept(read.wrong());
    return read.settings();
  }
}
