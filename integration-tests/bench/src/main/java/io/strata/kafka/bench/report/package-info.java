/**
 * The report: one page with all that it needs in it, for a browser that may be offline.
 *
 * <p>Door: {@link io.strata.kafka.bench.report.ReportPage}.
 */
@NullMarked
package io.strata.kafka.bench.report;

import org.jspecify.annotations.NullMarked;
