/** What the broker's metrics library lets only its own package do. */
@NullMarked
package com.yammer.metrics.core;

import org.jspecify.annotations.NullMarked;
