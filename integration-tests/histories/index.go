package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// lateIndexes counts entries in the replicas' indexes of aborted transactions whose last stable offset is higher than
// another replica's. That is stock Kafka's: a follower that appends several transactions by one fetch notes for all of
// them the last stable offset behind the last, and a read_committed fetch that ends before it looks no further, and
// returns records of the later ones.
func lateIndexes(c *Cluster, topic string) int {
	type transaction struct {
		partition             int
		producer, first, last int64
	}
	lowest := map[transaction]int64{}
	late := 0
	for range 2 { // first the lowest, then what is above it
		late = 0
		for _, b := range c.brokers {
			for p := range txnPartitions {
				files, _ := filepath.Glob(filepath.Join(b.folder, "data-*", fmt.Sprintf("%s-%d", topic, p), "*.txnindex"))
				for _, file := range files {
					bytes, _ := os.ReadFile(file)
					for ; len(bytes) >= 34; bytes = bytes[34:] {
						number := func(i int) int64 { return int64(binary.BigEndian.Uint64(bytes[2+8*i:])) }
						t := transaction{p, number(0), number(1), number(2)}
						stable := number(3)
						if known, ok := lowest[t]; !ok || stable < known {
							lowest[t] = stable
						} else if stable > known {
							late++
						}
					}
				}
			}
		}
	}
	return late
}
