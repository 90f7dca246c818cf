package iostat

import (
	"fmt"
	"testing"
)

// wide makes a host with 32 disks and a server of 64 processes among 500.
func wide(b *testing.B) (Root, Watch) {
	r := unpack(b, "kernel/6.1.txtar")
	w := Watch{Server: []int{1000}, Client: 2000}
	for i := range 32 {
		name := fmt.Sprintf("nvme%dn1", i)
		put(b, r.sys("block", name, "stat"), "    1000       10    16000      500     2000       20    64000     3000        3     1500     3500       50        5     8000       25       70      900\n")
		w.Disks = append(w.Disks, name)
	}
	for i := range 64 {
		task{pid: 1000 + i, ppid: 1000, user: 123456, system: 12345, threads: 100, start: 5, rssPages: 100000, hwmKB: 400000, read: 1 << 40, written: 1 << 40}.put(b, r)
	}
	for i := range 436 {
		task{pid: 2000 + i, ppid: 1, start: 9, threads: 1}.put(b, r)
	}
	return r, w
}

// BenchmarkSample guards the budget: one sample of 32 disks and 64 processes takes at or under 4 ms
// of CPU.
func BenchmarkSample(b *testing.B) {
	r, w := wide(b)
	s, err := NewSampler(r, w)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var costUS int64
	for b.Loop() {
		costUS += s.Sample().CostUS.V
	}
	b.ReportMetric(float64(costUS)/float64(b.N), "cpu_us/sample")
}

// BenchmarkSampleEnds is the dearer reading at the ends of a step: all of /proc is looked through.
func BenchmarkSampleEnds(b *testing.B) {
	r, w := wide(b)
	s, err := NewSampler(r, w)
	if err != nil {
		b.Fatal(err)
	}
	var costUS int64
	for b.Loop() {
		costUS += s.SampleEnds(false).CostUS.V
	}
	b.ReportMetric(float64(costUS)/float64(b.N), "cpu_us/sample")
}
