{{/* What the schema cannot see, because it depends on several values. Each message names the value, what was found, and what to do. */}}
{{- define "strata-kafka.check" -}}
{{- $values := .Values -}}
{{- $jar := .Values.jar -}}
{{- if or (include "strata-kafka.needsJar" .) .Values.drain.enabled -}}
{{- if and (eq $jar.delivery "image") (not $jar.image) -}}
{{- fail "jar.image is empty: with jar.delivery=image, name your image of Strimzi's Kafka with Strata's jar (examples/strimzi/Dockerfile, target \"kafka\")" -}}
{{- end -}}
{{- if and (eq $jar.delivery "imageVolume") (not $jar.imageVolume.reference) -}}
{{- fail "jar.imageVolume.reference is empty: with jar.delivery=imageVolume, name the image that holds Strata's jar (examples/strimzi/Dockerfile, target \"jar\")" -}}
{{- end -}}
{{- end -}}

{{- $ids := list -}}
{{- $pools := list -}}
{{- $roles := list -}}
{{- range .Values.nodePools -}}
{{- if has .name $pools -}}{{- fail (printf "nodePools: two pools are called %s; give each a name of its own" .name) -}}{{- end -}}
{{- $pools = append $pools .name -}}
{{- $roles = concat $roles .roles -}}
{{- $node := . -}}
{{- range .nodeIds -}}
{{- $pod := printf "%s-%s-%d" (include "strata-kafka.cluster" $) $node.name (int64 .) -}}
{{- if and (has "broker" $node.roles) (gt (len $pod) 51) -}}
{{- fail (printf "nodePools: the pod %s has a name of %d characters, and the names of its Jobs have room for 51; shorten clusterName or the pool's name" $pod (len $pod)) -}}
{{- end -}}
{{- if has (int64 .) $ids -}}{{- fail (printf "nodePools: node id %d is there twice; node ids are unique in the cluster" (int64 .)) -}}{{- end -}}
{{- $ids = append $ids (int64 .) -}}
{{- end -}}
{{- if and (eq .storage.type "jbod") (not .storage.volumes) -}}{{- fail (printf "nodePools: the storage of %s is jbod and has no volumes" .name) -}}{{- end -}}
{{- end -}}
{{- range list "controller" "broker" -}}
{{- if not (has . $roles) -}}{{- fail (printf "nodePools: no pool has the role %s" .) -}}{{- end -}}
{{- end -}}

{{- if or .Values.strata.enabled .Values.drain.enabled -}}
{{- if not .Values.strata.tiers -}}{{- fail "strata.tiers is empty: name at least one tier, or set strata.enabled=false" -}}{{- end -}}
{{- $types := dict -}}
{{- range $tier := .Values.strata.tiers -}}
{{- range .volumes -}}{{- $types = set $types . ($tier.type | default "auto") -}}{{- end -}}
{{- end -}}
{{- $volumes := dict -}}
{{- range .Values.strata.volumes -}}
{{- if hasKey $volumes .name -}}{{- fail (printf "strata.volumes: two volumes are called %s; give each a name of its own" .name) -}}{{- end -}}
{{- $volumes = set $volumes .name . -}}
{{- $size := include "strata-kafka.bytes" .size | int64 -}}
{{- if ge (include "strata-kafka.bytes" $values.strata.poolSize | int64) $size -}}
{{- fail (printf "strata.poolSize=%s does not fit into volume %s of %s: leave some space for the file system, 5 %% for example" $values.strata.poolSize .name .size) -}}
{{- end -}}
{{- $volume := . -}}
{{- if and (eq .type "memory") $values.strata.requireDax (has .name (first $values.strata.tiers).volumes) -}}
{{- fail (printf "strata.requireDax=true, and volume %s of the first tier is of type memory, which survives no power failure: no broker would start. Take type claim on DAX, or set strata.requireDax=false" .name) -}}
{{- end -}}
{{- $type := get $types .name | default "auto" -}}
{{- if and (eq .type "memory") (ne $type "mapped") -}}
{{- fail (printf "strata.volumes: %s is of type memory, which is gone with the pod, and its tier has pools of type %s: no broker would start. Take type mapped for the tier, or a volume of type claim" .name $type) -}}
{{- end -}}
{{- range $values.nodePools -}}
{{- if has "broker" .roles -}}
{{- $ephemeral := include "strata-kafka.isEphemeral" . -}}
{{- if and (eq $volume.type "memory") (not $ephemeral) -}}
{{- fail (printf "strata.volumes: %s is of type memory, which is gone with the pod, and the log directories of node pool %s stay: after a roll the broker would refuse to start for its lost pool. Take a volume of type claim" $volume.name .name) -}}
{{- end -}}
{{- if and (eq $volume.type "claim") $ephemeral -}}
{{- fail (printf "strata.volumes: %s is of type claim, which stays, and log directories of node pool %s are ephemeral: after a roll the broker would refuse to start for its lost log directories. Take type memory, or storage of type persistent-claim" $volume.name .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $tiers := list -}}
{{- $used := list -}}
{{- range $tier := .Values.strata.tiers -}}
{{- if has .name $tiers -}}{{- fail (printf "strata.tiers: two tiers are called %s; give each a name of its own" .name) -}}{{- end -}}
{{- $tiers = append $tiers .name -}}
{{- range .volumes -}}
{{- if not (hasKey $volumes .) -}}{{- fail (printf "strata.tiers: tier %s names volume %s, which is not in strata.volumes (there: %s)" $tier.name . (keys $volumes | sortAlpha | join ", ")) -}}{{- end -}}
{{- if has . $used -}}{{- fail (printf "strata.tiers: volume %s is in two tiers; a volume belongs to one" .) -}}{{- end -}}
{{- $used = append $used . -}}
{{- end -}}
{{- end -}}
{{- range keys $volumes | sortAlpha -}}
{{- if not (has . $used) -}}{{- fail (printf "strata.volumes: no tier uses volume %s; list it in strata.tiers, or remove it" .) -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- if .Values.drain.enabled -}}
{{- if .Values.strata.enabled -}}{{- fail "drain.enabled=true with strata.enabled=true: brokers would fill the pools that the Jobs drain; set strata.enabled=false, too" -}}{{- end -}}
{{- range .Values.strata.volumes -}}
{{- if eq .type "memory" -}}{{- fail (printf "drain.enabled=true, and volume %s is of type memory, of which nothing is left to drain: set drain.enabled=false" .name) -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- $lost := .Values.acceptLoss.nodeIds -}}
{{- if and $lost (or .Values.drain.enabled (not .Values.strata.enabled)) -}}
{{- fail "acceptLoss.nodeIds is set: it needs strata.enabled=true and drain.enabled=false; drain after the brokers have started again" -}}
{{- end -}}
{{- range $lost -}}
{{- if not (has (toString (int64 .)) (include "strata-kafka.jobNodes" $ | fromJsonArray)) -}}
{{- fail (printf "acceptLoss.nodeIds: node %d is not a broker of nodePools" (int64 .)) -}}
{{- end -}}
{{- end -}}

{{- if .Values.remote.enabled -}}
{{- if not .Values.remote.levels -}}{{- fail "remote.levels is empty: name at least one level, or set remote.enabled=false" -}}{{- end -}}
{{- $levels := list -}}
{{- $brokers := include "strata-kafka.brokerCount" . | int -}}
{{- range .Values.remote.levels -}}
{{- if has .name $levels -}}{{- fail (printf "remote.levels: two levels are called %s; give each a name of its own" .name) -}}{{- end -}}
{{- $levels = append $levels .name -}}
{{- if and (gt $brokers 1) (eq (dig "claim" "accessMode" "ReadWriteMany" .) "ReadWriteOnce") -}}
{{- fail (printf "remote.levels: level %s has accessMode ReadWriteOnce and there are %d brokers, which must all see the same store; take ReadWriteMany" .name $brokers) -}}
{{- end -}}
{{- end -}}
{{- $replicas := index (.Values.kafka.config | default dict) "rlmm.config.remote.log.metadata.topic.replication.factor" | default 3 | int -}}
{{- if gt $replicas $brokers -}}
{{- fail (printf "remote.enabled=true: Kafka's topic of the remote tier's metadata has %d replicas, and there are %d brokers, which would stop themselves after two minutes; set rlmm.config.remote.log.metadata.topic.replication.factor in kafka.config to %d" $replicas $brokers $brokers) -}}
{{- end -}}
{{- end -}}

{{- range $key, $_ := .Values.kafka.config -}}
{{- if regexMatch "^(strata|rsm\\.config)\\." $key -}}
{{- fail (printf "kafka.config: %s is a key of Strata; strata.* keys go into strata.config, those of the remote tier into remote.config" $key) -}}
{{- else if hasPrefix "remote.log.storage." $key -}}
{{- fail (printf "kafka.config: %s is the operator's; set remote.enabled, and give the chart the store's keys by remote.levels and remote.config" $key) -}}
{{- else if eq $key "log.preallocate" -}}
{{- fail "kafka.config: log.preallocate is refused by Strata when it is true; remove it" -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.strata.config -}}
{{- if regexMatch "^strata\\.(pools|pool\\.create|require\\.dax|tiers|tier\\..*)$" $key -}}
{{- fail (printf "strata.config: %s is what the chart writes from strata.volumes, strata.tiers, strata.poolSize and strata.requireDax; set those" $key) -}}
{{- else if not (regexMatch (include "strata-kafka.furtherKeys" .) $key) -}}
{{- fail (printf "strata.config: %s is no key of Strata: docs/reference/configuration.md lists them" $key) -}}
{{- end -}}
{{- end -}}
{{- range $key, $_ := .Values.remote.config -}}
{{- if not (regexMatch (include "strata-kafka.remoteKeys" .) $key) -}}
{{- fail (printf "remote.config: %s is no key of the remote tier: docs/reference/configuration.md lists them, here they have no rsm.config. before them" $key) -}}
{{- end -}}
{{- end -}}

{{- if and .Values.localVolumes.volumes (not .Values.localVolumes.storageClass) -}}
{{- fail "localVolumes.volumes is set and localVolumes.storageClass is empty: name the StorageClass to create for them" -}}
{{- end -}}
{{- if .Values.localVolumes.storageClass -}}
{{- $local := .Values.localVolumes -}}
{{- $largest := 0 -}}
{{- range $local.volumes -}}{{- $largest = max $largest (include "strata-kafka.bytes" .size | int64) -}}{{- end -}}
{{- range .Values.strata.volumes -}}
{{- if and (eq .type "claim") (eq (.storageClass | default "") $local.storageClass) -}}
{{- if gt (include "strata-kafka.bytes" .size | int64) (int64 $largest) -}}
{{- fail (printf "strata.volumes: %s wants %s, and no volume of localVolumes has as much: its claims would stay pending" .name .size) -}}
{{- end -}}
{{- if eq (.accessMode | default "") "ReadWriteOncePod" -}}
{{- fail (printf "strata.volumes: %s has accessMode ReadWriteOncePod, which local volumes lack: its claims would stay pending; take ReadWriteOnce" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
