package io.strata.kafka.migration.remote.store;

import io.strata.kafka.fuzz.FuzzContract;
import io.strata.kafka.fuzz.FuzzTarget;
import io.strata.kafka.migration.remote.store.layout.StoreNamesTarget;
import java.util.List;

/** The files and names of a store, whatever is in them. */
final class StoreFuzzTest extends FuzzContract {

  @Override
  protected List<FuzzTarget> targets() {
    return List.of(new StoreFilesTarget(), new StoreNamesTarget());
  }
}
