/**
 * Stock Apache Kafka brokers in their own JVMs, with and without Strata, and what must hold on
 * them, in rooms: open {@link io.strata.kafka.it.harness} first. No room needs another but that
 * one, except that {@code soak} and {@code powercut} have their ledgers and loads from {@code
 * kills}, and {@code kills}, {@code faults} and {@code versions} have clusters and audits of a
 * store from {@code remote}.
 */
@NullMarked
package io.strata.kafka.it;

import org.jspecify.annotations.NullMarked;
