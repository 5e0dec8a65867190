/**
 * A second RemoteStorageManager behind the one that Kafka's own tests insist on: for the JVMs in
 * which those tests run. Public because Kafka's class calls it, from its own package.
 */
@NullMarked
package io.strata.kafka.it.mirror;

import org.jspecify.annotations.NullMarked;
