/**
 * The hosts that clients run on: this JVM, another one here, or one reached by ssh. The other end
 * of a connection is the same jar; both talk in lines of JSON.
 *
 * <p>Doors: {@link io.strata.kafka.bench.agent.Agent} is a host as the coordinator has it, {@link
 * io.strata.kafka.bench.agent.AgentMain} the program on another host.
 */
@NullMarked
package io.strata.kafka.bench.agent;

import org.jspecify.annotations.NullMarked;
