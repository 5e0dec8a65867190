package io.strata.kafka.unpublished;

import java.util.Optional;

/**
 * The reason for which Kafka calls a plugin about the broker's dynamic configuration. Its calls are
 * the same for a change that an operator asks for, which a plugin may refuse, and for what is
 * stored, where a refusal makes Kafka drop all that is stored at that level. The stack tells them
 * apart.
 */
public enum ConfigurationCall {

  /** An operator asks for a change, which is not stored yet. */
  VALIDATION("validate"),

  /** The values that are stored for all brokers of the cluster are applied. */
  CLUSTER_DEFAULT("updateDefaultConfig"),

  /** The values that are stored for this broker are applied. */
  BROKER("updateBrokerConfig"),

  /** Any other reason, or that of a release whose methods are named differently. */
  UNKNOWN("");

  /** The class of Kafka that applies the dynamic configuration, in whatever package. */
  private static final String CALLER = "DynamicBrokerConfig";

  private final String method;

  ConfigurationCall(String method) {
    this.method = method;
  }

  /** Returns the reason of the call that this thread is in. */
  public static ConfigurationCall current() {
    return StackWalker.getInstance()
        .walk(frames -> frames.flatMap(frame -> of(frame).stream()).findFirst())
        .orElse(UNKNOWN);
  }

  private static Optional<ConfigurationCall> of(StackWalker.StackFrame frame) {
    String name = frame.getClassName();
    if (name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1).equals(CALLER)) {
      for (ConfigurationCall call : values()) {
        if (frame.getMethodName().equals(call.method)) {
          return Optional.of(call);
        }
      }
    }
    return Optional.empty();
  }
}
