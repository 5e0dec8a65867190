/**
 * The benchmark tool {@code strata-bench}: its command line.
 *
 * <p>Door: {@link io.strata.kafka.bench.BenchMain}. Below: {@code scenario} is what to do, {@code
 * load} the clients, {@code agent} the hosts, {@code result} the figures, {@code run} one run,
 * {@code paired} several in turns, {@code report} the page.
 */
@NullMarked
package io.strata.kafka.bench;

import org.jspecify.annotations.NullMarked;
