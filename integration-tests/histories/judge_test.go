package main

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"
)

var (
	plain = TopicPartition{"plain", 0}
	left  = TopicPartition{"txn", 0}
	right = TopicPartition{"txn", 1}
)

// good makes a history without a fault: n records outside of transactions, with several in flight, and transactions over
// two partitions, of which every third is aborted.
func good(n int) *History {
	h := &History{Replicas: map[TopicPartition]map[int32][]Entry{}, Committed: map[TopicPartition][]Seen{}}
	logs := map[TopicPartition][]Entry{}
	put := func(log TopicPartition, e Entry) int64 {
		e.Offset = int64(len(logs[log]))
		logs[log] = append(logs[log], e)
		return e.Offset
	}
	random := rand.New(rand.NewSource(1))
	now := int64(1000)
	for i := range n {
		now += 10
		id := fmt.Sprintf("r%d", i)
		a := Append{Log: plain, ID: id, Call: now, Return: now + 75, Outcome: Done}
		a.Offset = put(plain, Entry{ID: id, Producer: 1})
		if i%50 == 7 {
			a.Outcome, a.Offset = Unknown, 0
		}
		h.Appends = append(h.Appends, a)
		if i%3 == 0 {
			at := random.Intn(i + 1)
			h.Reads = append(h.Reads, Read{Log: plain, Asked: int64(at), Call: now + 80, Return: now + 90, Records: []Seen{{int64(at), fmt.Sprintf("r%d", at)}}})
		}
	}
	for i := range n / 5 {
		txn := fmt.Sprintf("t%d", i)
		for j, log := range []TopicPartition{left, right, left} {
			now += 10
			id := fmt.Sprintf("%s.%d", txn, j)
			h.Appends = append(h.Appends, Append{Log: log, ID: id, Txn: txn, Call: now, Return: now + 5, Outcome: Done,
				Offset: put(log, Entry{ID: id, Producer: 2})})
		}
		commit := i%3 != 0
		h.Ends = append(h.Ends, End{Txn: txn, Commit: commit, Call: now + 6, Outcome: Done})
		for _, log := range []TopicPartition{left, right} {
			put(log, Entry{Control: true, Commit: commit, Producer: 2})
		}
		if commit {
			e := logs[right][len(logs[right])-2]
			h.Reads = append(h.Reads, Read{Log: right, Asked: unasked, Committed: true, Call: now + 7, Return: now + 8, Records: []Seen{{e.Offset, e.ID}}})
		}
	}
	for log, entries := range logs {
		h.Replicas[log] = map[int32][]Entry{}
		for broker := range int32(3) {
			h.Replicas[log][broker] = append([]Entry(nil), entries...)
		}
		for i, e := range entries {
			txn, _, isTxn := strings.Cut(e.ID, ".")
			var number int
			if isTxn {
				fmt.Sscanf(txn, "t%d", &number)
			}
			if !entries[i].Control && (!isTxn || number%3 != 0) {
				h.Committed[log] = append(h.Committed[log], Seen{e.Offset, e.ID})
			}
		}
	}
	return h
}

// everywhere changes all replicas in the same way.
func everywhere(h *History, log TopicPartition, change func([]Entry) []Entry) {
	for broker, entries := range h.Replicas[log] {
		h.Replicas[log][broker] = change(entries)
	}
}

func TestGoodHistory(t *testing.T) {
	begin := time.Now()
	h := good(10_000)
	if v := Judge(h); !v.Good() {
		t.Fatal(v)
	}
	t.Logf("%d operations in %s", h.Operations(), time.Since(begin))
}

func TestPlantedFaults(t *testing.T) {
	planted := map[string]struct {
		plant func(h *History)
		found string
	}{
		"an acknowledged record is gone from the middle, what is behind it moves up": {func(h *History) {
			everywhere(h, plain, func(all []Entry) []Entry {
				all = append(all[:100:100], all[101:]...)
				for i := range all {
					all[i].Offset = int64(i)
				}
				return all
			})
		}, "lost"},
		"the last acknowledged record is gone": {func(h *History) {
			everywhere(h, plain, func(all []Entry) []Entry { return all[:len(all)-1] })
		}, "lost"},
		"a hole": {func(h *History) {
			everywhere(h, plain, func(all []Entry) []Entry { return append(all[:100:100], all[101:]...) })
		}, "gap"},
		"two records changed places": {func(h *History) {
			everywhere(h, plain, func(all []Entry) []Entry {
				all[10].ID, all[11].ID = all[11].ID, all[10].ID
				return all
			})
		}, "lost"},
		"a record is there twice": {func(h *History) {
			everywhere(h, plain, func(all []Entry) []Entry {
				return append(all, Entry{Offset: int64(len(all)), ID: "r5", Producer: 1})
			})
		}, "duplicate"},
		"a record that nobody sent": {func(h *History) {
			everywhere(h, plain, func(all []Entry) []Entry {
				return append(all, Entry{Offset: int64(len(all)), ID: "x", Producer: 1})
			})
		}, "phantom"},
		"a read of what was then gone": {func(h *History) {
			h.Reads = append(h.Reads, Read{Log: plain, Call: 2000, Return: 2010, Records: []Seen{{3, "r3"}, {4, "other"}}})
		}, "unread"},
		"a fetch that leaves out a record": {func(h *History) {
			h.Reads = append(h.Reads, Read{Log: plain, Asked: 3, Call: 20000, Return: 20010, Records: []Seen{{3, "r3"}, {5, "r5"}}})
		}, "skipped"},
		"a fetch that begins behind the offset that was asked for": {func(h *History) {
			h.Reads = append(h.Reads, Read{Log: plain, Asked: 3, Call: 20000, Return: 20010, Records: []Seen{{4, "r4"}, {5, "r5"}}})
		}, "skipped"},
		"read_committed that leaves out a committed record": {func(h *History) {
			h.Reads = append(h.Reads, Read{Log: left, Asked: 3, Committed: true, Call: 40000, Return: 40010, Records: []Seen{{4, "t1.2"}}})
		}, "skipped"},
		"a read from the future": {func(h *History) {
			h.Reads = append(h.Reads, Read{Log: plain, Call: 1100, Return: 1110, Records: []Seen{{500, "r500"}}})
		}, "order"},
		"a fetch whose records are out of order": {func(h *History) {
			h.Reads = append(h.Reads, Read{Log: plain, Call: 20000, Return: 20010, Records: []Seen{{4, "r4"}, {3, "r3"}}})
		}, "reordered"},
		"a later append before an acknowledged one": {func(h *History) {
			a, b := &h.Appends[100], &h.Appends[130]
			a.Call, a.Return, b.Call, b.Return = b.Call, b.Return, a.Call, a.Return
		}, "order"},
		"one replica has lost its end": {func(h *History) {
			h.Replicas[plain][1] = h.Replicas[plain][1][:150]
		}, "replicas"},
		"one replica has another record": {func(h *History) { h.Replicas[plain][2][42].ID = "r43" }, "replicas"},
		"bytes that were not sent":       {func(h *History) { h.Damaged = append(h.Damaged, "r7") }, "damaged"},
		"a committed transaction is aborted in one partition": {func(h *History) {
			everywhere(h, right, func(all []Entry) []Entry {
				all[3].Commit = false
				return all
			})
		}, "torn"},
		"a committed transaction has lost a record": {func(h *History) {
			everywhere(h, right, func(all []Entry) []Entry {
				all[2] = Entry{Offset: 2, Control: true, Commit: true, Producer: 2}
				return all
			})
		}, "uncommitted"},
		"an aborted transaction is committed": {func(h *History) {
			for _, log := range []TopicPartition{left, right} {
				everywhere(h, log, func(all []Entry) []Entry {
					for i := range all {
						if all[i].Control {
							all[i].Commit = true
							break
						}
					}
					return all
				})
			}
		}, "unaborted"},
		"read_committed returns an aborted record": {func(h *History) {
			h.Reads = append(h.Reads, Read{Log: right, Committed: true, Call: 40000, Return: 40010, Records: []Seen{{0, "t0.1"}}})
		}, "aborted"},
		"read_committed before the commit": {func(h *History) {
			for i := range h.Appends {
				if a := &h.Appends[i]; a.ID == "t1.1" {
					h.Reads = append(h.Reads, Read{Log: right, Committed: true, Call: a.Return, Return: a.Return + 1, Records: []Seen{{2, "t1.1"}}})
					return
				}
			}
		}, "order"},
		"read_committed leaves a record out": {func(h *History) { h.Committed[right] = h.Committed[right][1:] }, "committed"},
		"a transaction never ends": {func(h *History) {
			everywhere(h, left, func(all []Entry) []Entry { return all[:len(all)-1] })
		}, "hanging"},
	}
	for name, fault := range planted {
		t.Run(name, func(t *testing.T) {
			h := good(200)
			fault.plant(h)
			v := Judge(h)
			if len(v.Problems[fault.found]) == 0 {
				t.Fatalf("expected a problem %q, found: %s", fault.found, v)
			}
		})
	}
}

// TestOrderAlone shows that porcupine by itself, without what looks at the records first, notices losses and swaps.
func TestOrderAlone(t *testing.T) {
	check := func(change func(h *History)) bool {
		h := good(200)
		change(h)
		sent, place := map[string]*Append{}, map[string]Entry{}
		for i := range h.Appends {
			sent[h.Appends[i].ID] = &h.Appends[i]
		}
		for _, e := range h.Replicas[plain][0] {
			place[e.ID] = e
		}
		return linearizable(h, plain, h.Replicas[plain][0], sent, place)
	}
	if !check(func(*History) {}) {
		t.Fatal("a good history is refused")
	}
	if check(func(h *History) { h.Replicas[plain][0] = h.Replicas[plain][0][:199] }) {
		t.Fatal("a lost record is not noticed")
	}
	if check(func(h *History) {
		all := h.Replicas[plain][0]
		all[20].ID, all[21].ID = all[21].ID, all[20].ID
	}) {
		t.Fatal("a swapped pair is not noticed")
	}
	if check(func(h *History) {
		h.Appends = append(h.Appends[:50:50], h.Appends[51:]...)
	}) {
		t.Fatal("an offset that nobody appended is not noticed")
	}
}
