package iostat

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/prometheus/procfs/blockdevice"
)

// DiskCounters counts the work of one block device since the Sampler's first reading, from
// /sys/block/NAME/stat (Documentation/block/stat.rst and admin-guide/iostats.rst). A sector is
// always 512 bytes. Times are summed over requests in milliseconds.
type DiskCounters struct {
	Reads          int64      `json:"reads"`
	ReadMerges     int64      `json:"read_merges"`
	ReadSectors    int64      `json:"read_sectors"`
	ReadMS         int64      `json:"read_ms"`
	Writes         int64      `json:"writes"`
	WriteMerges    int64      `json:"write_merges"`
	WriteSectors   int64      `json:"write_sectors"`
	WriteMS        int64      `json:"write_ms"`
	BusyMS         int64      `json:"busy_ms"`         // io_ticks: wall time with a request in flight
	QueueMS        int64      `json:"queue_ms"`        // time_in_queue: requests in flight, weighted by time
	Discards       Opt[int64] `json:"discards"`        // since 4.18, as are the next three
	DiscardMerges  Opt[int64] `json:"discard_merges"`  //
	DiscardSectors Opt[int64] `json:"discard_sectors"` //
	DiscardMS      Opt[int64] `json:"discard_ms"`      //
	Flushes        Opt[int64] `json:"flushes"`         // since 5.5; of whole disks only, neither partitions nor md, dm and the like
	FlushMS        Opt[int64] `json:"flush_ms"`        //
}

// DiskSample is one reading of one device.
type DiskSample struct {
	Name string // kernel name
	OK   bool   // the device was there and its counters could be read
	// Epoch grows when the device went, came back or was reset: counters of different epochs can't
	// be subtracted.
	Epoch int
	// InFlight is the number of requests the device has now.
	InFlight int64
	DiskCounters
}

// wrapping extends a kernel counter that wraps to one that doesn't.
type wrapping struct {
	last  uint64
	total int64
}

// advance returns how far the counter moved from last to v. Time fields are 32 bits wide; the
// others are an unsigned long, 32 or 64 bits by the kernel (iostats.rst: "you should deal with this
// by wrapping"). A step of half the range or more is taken for a reset: ok is false.
func advance(last, v uint64, narrow bool) (step int64, ok bool) {
	switch {
	case v >= last && v-last < 1<<62:
		return int64(v - last), true
	case narrow || last < 1<<32 && v < 1<<32:
		d := uint32(v) - uint32(last)
		return int64(d), last < 1<<32 && v < last && d < 1<<31
	default:
		d := v - last
		return int64(d), d < 1<<62
	}
}

// disk follows one device from reading to reading.
type disk struct {
	name      string
	path      string // below /sys/block: NAME, or PARENT/NAME for a partition
	parent    string // the disk it is a partition of, else empty
	flushes   bool   // the kernel counts its flushes
	uncounted bool   // accounting is off
	epoch     int
	columns   int // of the stat file; the kernel doesn't change while it runs
	seen      bool
	gone      bool
	c         [16]wrapping
}

// Positions in disk.c; the order of the stat file without the in-flight gauge.
const (
	cReads = iota
	cReadMerges
	cReadSectors
	cReadMS
	cWrites
	cWriteMerges
	cWriteSectors
	cWriteMS
	cBusyMS
	cQueueMS
	cDiscards
	cDiscardMerges
	cDiscardSectors
	cDiscardMS
	cFlushes
	cFlushMS
)

// The number of columns of the stat file: until 4.17, from 4.18 with discards, from 5.5 with
// flushes. Any other number is a line cut short.
const (
	columnsBase     = 11
	columnsDiscards = 15
	columnsFlushes  = 17
)

func (d *disk) sample(sys blockdevice.FS) (DiskSample, error) {
	s := DiskSample{Name: d.name, Epoch: d.epoch}
	if d.uncounted {
		return s, fmt.Errorf("disk %s: the kernel counts no requests of it; write 1 to its queue/iostats", d.name)
	}
	st, n, err := sys.SysBlockDeviceStat(d.path)
	if err != nil {
		d.gone = d.gone || errors.Is(err, fs.ErrNotExist)
		if d.gone {
			err = errors.New("the device is gone")
		}
		return s, fmt.Errorf("disk %s: %w", d.name, err)
	}
	if d.columns == 0 {
		d.columns = n
	}
	if n != d.columns || n != columnsBase && n != columnsDiscards && n < columnsFlushes {
		return s, fmt.Errorf("disk %s: its stat file has %d columns, it was cut short", d.name, n)
	}
	d.take([16]uint64{
		st.ReadIOs, st.ReadMerges, st.ReadSectors, st.ReadTicks,
		st.WriteIOs, st.WriteMerges, st.WriteSectors, st.WriteTicks,
		st.IOsTotalTicks, st.WeightedIOTicks,
		st.DiscardIOs, st.DiscardMerges, st.DiscardSectors, st.DiscardTicks,
		st.FlushRequestsCompleted, st.TimeSpentFlushing,
	})
	s.Epoch, s.OK = d.epoch, true
	s.DiskCounters = d.counters(n)
	s.InFlight = int64(st.IOsInProgress)
	return s, nil
}

// take advances all counters, or starts a new epoch when one of them went back in a way that no
// wrap explains.
func (d *disk) take(v [16]uint64) {
	var step [16]int64
	reset := d.gone
	for i := range v {
		narrow := i == cReadMS || i == cWriteMS || i == cBusyMS || i == cQueueMS || i == cDiscardMS || i == cFlushMS
		var ok bool
		if step[i], ok = advance(d.c[i].last, v[i], narrow); !ok {
			reset = true
		}
	}
	if d.seen && reset {
		d.epoch++
	}
	for i := range v {
		if d.seen && !reset {
			d.c[i].total += step[i]
		}
		d.c[i].last = v[i]
	}
	d.seen, d.gone = true, false
}

func (d *disk) counters(columns int) DiskCounters {
	t := func(i int) int64 { return d.c[i].total }
	c := DiskCounters{Reads: t(cReads), ReadMerges: t(cReadMerges), ReadSectors: t(cReadSectors), ReadMS: t(cReadMS),
		Writes: t(cWrites), WriteMerges: t(cWriteMerges), WriteSectors: t(cWriteSectors), WriteMS: t(cWriteMS),
		BusyMS: t(cBusyMS), QueueMS: t(cQueueMS)}
	if columns >= columnsDiscards {
		c.Discards, c.DiscardMerges = Some(t(cDiscards)), Some(t(cDiscardMerges))
		c.DiscardSectors, c.DiscardMS = Some(t(cDiscardSectors)), Some(t(cDiscardMS))
	}
	if columns >= columnsFlushes && d.flushes {
		c.Flushes, c.FlushMS = Some(t(cFlushes)), Some(t(cFlushMS))
	}
	return c
}
