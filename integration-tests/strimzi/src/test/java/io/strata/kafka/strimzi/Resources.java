package io.strata.kafka.strimzi;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.strimzi.api.kafka.model.kafka.Kafka;
import io.strimzi.api.kafka.model.nodepool.KafkaNodePool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Rendered resources, read by the models of Strimzi and of Kubernetes: a field they do not have is
 * an error.
 */
record Resources(List<HasMetadata> all) {

  private static final Map<String, Class<? extends HasMetadata>> KINDS =
      Map.of(
          "kafka.strimzi.io/v1/Kafka", Kafka.class,
          "kafka.strimzi.io/v1/KafkaNodePool", KafkaNodePool.class,
          "v1/ConfigMap", ConfigMap.class,
          "v1/PersistentVolume", PersistentVolume.class,
          "v1/PersistentVolumeClaim", PersistentVolumeClaim.class,
          "batch/v1/Job", Job.class,
          "storage.k8s.io/v1/StorageClass", StorageClass.class);

  private static final ObjectMapper STRICT =
      new ObjectMapper(new YAMLFactory())
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .setAnnotationIntrospector(new WithoutCatchAll());

  /** The models keep what they do not know in a map: not here. */
  private static final class WithoutCatchAll extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    @Override
    public Boolean hasAnySetter(Annotated annotated) {
      return false;
    }
  }

  static Resources parse(String yaml) throws IOException {
    List<HasMetadata> all = new ArrayList<>();
    try (MappingIterator<JsonNode> documents = STRICT.readerFor(JsonNode.class).readValues(yaml)) {
      while (documents.hasNext()) {
        JsonNode document = documents.next();
        if (!document.isNull() && !document.isMissingNode()) {
          all.add(resource(document));
        }
      }
    }
    return new Resources(List.copyOf(all));
  }

  private static HasMetadata resource(JsonNode document) throws JsonProcessingException {
    String kind = document.path("apiVersion").asText() + "/" + document.path("kind").asText();
    Class<? extends HasMetadata> type = KINDS.get(kind);
    if (type == null) {
      throw new AssertionError("the chart makes no " + kind);
    }
    return STRICT.treeToValue(document, type);
  }

  Kafka kafka() {
    return only(Kafka.class).get(0);
  }

  List<KafkaNodePool> nodePools() {
    return only(KafkaNodePool.class);
  }

  KafkaNodePool nodePool(String name) {
    return nodePools().stream()
        .filter(pool -> pool.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  <T extends HasMetadata> List<T> only(Class<T> type) {
    return all.stream().filter(type::isInstance).map(type::cast).toList();
  }
}
