/**
 * How segments of the store are read: in checked chunks, through a bounded cache, ahead of the
 * reader where it reads on. Knows no Kafka.
 */
@NullMarked
package io.strata.kafka.migration.remote.read;

import org.jspecify.annotations.NullMarked;
