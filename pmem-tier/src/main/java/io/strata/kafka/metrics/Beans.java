package io.strata.kafka.metrics;

import java.lang.management.ManagementFactory;
import java.util.Optional;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Publishes MBeans of our own. Thread safety: stateless. */
final class Beans {
  private Beans() {}

  /**
   * Publishes it in the platform's MBean server, in the place of another of its name, for as long
   * as the process lives.
   */
  static void publish(String name, Object bean) {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    try {
      ObjectName object = new ObjectName(name);
      if (server.isRegistered(object)) {
        server.unregisterMBean(object);
      }
      var unused = server.registerMBean(bean, object);
    } catch (JMException e) {
      throw new IllegalStateException(name + " could not be published", e);
    }
  }

  /** The version of Strata. */
  static String version() {
    return Optional.ofNullable(Beans.class.getPackage().getImplementationVersion())
        .orElse("(not built as a jar)");
  }
}
