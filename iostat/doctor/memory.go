package doctor

import (
	"fmt"
	"strconv"
)

var memoryChecks = []Check{
	{
		Name: "swap_in_use", Level: Warning, look: swapInUse,
		Why: "pages of the server that are swapped out come back as reads that no query asked for",
		Change: "swapoff -a && swapon -a when there is memory enough, and make the server's cache " +
			"smaller if it happens again",
	},
	{
		Name: "swappiness", Level: Note, look: swappiness,
		Why:    "the kernel swaps out parts of the server's cache to keep more file pages",
		Change: "sysctl vm.swappiness=1",
	},
	{
		Name: "transparent_huge_pages", Level: Warning, look: hugePages,
		Why: "memory is compacted while statements wait, and RSS grows beyond what the server asked " +
			"for; some servers do want it, see their manual",
		Change: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, and restart the server",
	},
	{
		Name: "zone_reclaim", Level: Warning, look: zoneReclaim,
		Why:    "the kernel drops file pages of a node while others have memory free",
		Change: "sysctl vm.zone_reclaim_mode=0",
	},
	{
		Name: "dirty_background", Level: Note, look: dirtyBackground,
		Why: "writes through the page cache gather in memory and then go out in bursts that stall " +
			"everybody",
		Change: "sysctl vm.dirty_background_bytes=268435456 vm.dirty_bytes=1073741824",
	},
	{
		Name: "dirty_now", Level: Note, look: dirtyNow,
		Why:    "what earlier work left to be written back is written during the run, and charged to it",
		Change: "run sync and wait for it before the run",
	},
}

func gib(bytes int64) string { return strconv.FormatFloat(float64(bytes)/(1<<30), 'f', 1, 64) + " GiB" }

func swapInUse(h *host) string {
	m := h.sample.Memory
	if !m.SwapTotalBytes.OK || !m.SwapFreeBytes.OK || m.SwapTotalBytes.V-m.SwapFreeBytes.V < 1<<20 {
		return ""
	}
	return fmt.Sprintf("%s of %s", gib(m.SwapTotalBytes.V-m.SwapFreeBytes.V), gib(m.SwapTotalBytes.V))
}

func swappiness(h *host) string {
	v, err := strconv.Atoi(h.proc("sys/vm/swappiness"))
	if err != nil || v <= 10 || h.sample.Memory.SwapTotalBytes.V == 0 {
		return ""
	}
	return fmt.Sprintf("vm.swappiness = %d with %s of swap", v, gib(h.sample.Memory.SwapTotalBytes.V))
}

func hugePages(h *host) string {
	if chosen(h.sys("kernel/mm/transparent_hugepage/enabled")) != "always" {
		return ""
	}
	return "always"
}

func zoneReclaim(h *host) string {
	if v := h.proc("sys/vm/zone_reclaim_mode"); v != "" && v != "0" {
		return "vm.zone_reclaim_mode = " + v
	}
	return ""
}

// burstBytes is how much dirty memory may gather before it is worth a note.
const burstBytes = 1 << 30

func dirtyBackground(h *host) string {
	if v, err := strconv.ParseInt(h.proc("sys/vm/dirty_background_bytes"), 10, 64); err == nil && v > 0 {
		return "" // set by hand
	}
	v, err := strconv.ParseInt(h.proc("sys/vm/dirty_background_ratio"), 10, 64)
	available := h.sample.Memory.AvailableBytes
	if err != nil || v < 0 || v > 100 || !available.OK || available.V/100*v < burstBytes {
		return ""
	}
	return fmt.Sprintf("vm.dirty_background_ratio = %d, %s now", v, gib(available.V/100*v))
}

func dirtyNow(h *host) string {
	if d := h.sample.Memory.DirtyBytes; d.OK && d.V >= 64<<20 {
		return fmt.Sprintf("%d MiB", d.V>>20)
	}
	return ""
}
