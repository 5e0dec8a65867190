# Debian's Prometheus, which starts as the image prom/prometheus does.
ARG BASE=strata-it/jre:21
FROM ${BASE}
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends prometheus && rm -rf /var/lib/apt/lists/*
EXPOSE 9090
ENTRYPOINT ["/usr/bin/prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/tmp/prometheus"]
