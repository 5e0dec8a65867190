/** The calls that the broker's metrics library allows its own package alone. */
@NullMarked
package com.yammer.metrics.core;

import org.jspecify.annotations.NullMarked;
