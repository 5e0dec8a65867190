package io.strata.kafka.metrics;

import io.strata.kafka.migration.LatencyWindow;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Publishes in an MBean server, with the attributes that Kafka's own registry would give: for a JVM
 * without that registry.
 */
record JmxSink(MBeanServer server) implements MetricSink {

  @Override
  public void gauge(BeanName name, DoubleSupplier value) {
    publish(name, Map.of("Value", value::getAsDouble));
  }

  @Override
  public void counter(BeanName name, LongSupplier count) {
    publish(name, Map.of("Count", count::getAsLong));
  }

  @Override
  public void distribution(BeanName name, ToDoubleFunction<String> attributes) {
    Map<String, Supplier<Number>> all = new LinkedHashMap<>();
    LatencyWindow.ATTRIBUTES.forEach(each -> all.put(each, () -> attributes.applyAsDouble(each)));
    all.put("Count", () -> (long) attributes.applyAsDouble("Count"));
    publish(name, all);
  }

  private void publish(BeanName name, Map<String, Supplier<Number>> attributes) {
    try {
      remove(name);
      var unused = server.registerMBean(new Bean(name, attributes), name.parsed());
    } catch (JMException e) {
      throw new IllegalStateException("%s could not be published".formatted(name.objectName()), e);
    }
  }

  @Override
  public void remove(BeanName name) {
    ObjectName object = name.parsed();
    try {
      if (server.isRegistered(object)) {
        server.unregisterMBean(object);
      }
    } catch (JMException e) {
      throw new IllegalStateException("%s could not be withdrawn".formatted(object), e);
    }
  }

  private record Bean(BeanName name, Map<String, Supplier<Number>> attributes)
      implements DynamicMBean {

    @Override
    public Object getAttribute(String attribute) throws AttributeNotFoundException {
      Supplier<Number> value = attributes.get(attribute);
      if (value == null) {
        throw new AttributeNotFoundException(
            "%s: found no attribute %s, expected one of %s"
                .formatted(name.objectName(), attribute, attributes.keySet()));
      }
      return value.get();
    }

    @Override
    public AttributeList getAttributes(String[] names) {
      AttributeList list = new AttributeList();
      for (String attribute : names) {
        Supplier<Number> value = attributes.get(attribute);
        if (value != null) {
          list.add(new Attribute(attribute, value.get()));
        }
      }
      return list;
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
      throw new AttributeNotFoundException(
          "%s: attributes cannot be set".formatted(name.objectName()));
    }

    @Override
    public AttributeList setAttributes(AttributeList list) {
      return new AttributeList();
    }

    @Override
    public Object invoke(String action, Object[] parameters, String[] signature) {
      throw new UnsupportedOperationException(
          "%s: found operation %s, expected none".formatted(name.objectName(), action));
    }

    @Override
    public MBeanInfo getMBeanInfo() {
      return new MBeanInfo(
          Bean.class.getName(),
          "A metric of Strata",
          attributes.keySet().stream()
              .map(
                  attribute ->
                      new MBeanAttributeInfo(
                          attribute,
                          attribute.equals("Count") ? "long" : "double",
                          attribute,
                          true,
                          false,
                          false))
              .toArray(MBeanAttributeInfo[]::new),
          null,
          null,
          null);
    }
  }
}
