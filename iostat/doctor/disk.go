package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var diskChecks = []Check{
	{
		Name: "free_space", Level: Warning, look: freeSpace,
		Why:    "a run that fills the disk fails, and file systems that are nearly full are slow",
		Change: "free some, use another directory, or ask for fewer rows",
	},
	{
		Name: "device", Level: Note, look: deviceNotes,
		Why:    "what the directory lies on decides what its reads and writes mean",
		Change: "see the directory's devices with the iostat subcommand",
	},
	{
		Name: "mount_atime", Level: Note, look: mountAtime,
		Why:    "each read of a file may write its time stamp",
		Change: "mount with noatime",
	},
	{
		Name: "mount_discard", Level: Note, look: mountDiscard,
		Why: "each deleted file is discarded at once, which stalls some devices and is counted as " +
			"discards of the run",
		Change: "mount without discard and run fstrim before the run",
	},
	{
		Name: "mount_sync", Level: Warning, look: mountSync,
		Why:    "every write waits for the disk, whatever the database asks for",
		Change: "mount without sync",
	},
	{
		Name: "mount_barrier", Level: Warning, look: mountBarrier,
		Why: "without barriers a commit does not wait for the disk: rates are too good, and data is " +
			"lost with the power",
		Change: "mount without nobarrier and barrier=0",
	},
	{
		Name: "read_ahead", Level: Note, look: readAhead,
		Why: "reads of single pages bring in their neighbours: kB read per query grows with nothing " +
			"to show for it",
		Change: "blockdev --setra 32 on the device, or write 16 to its queue/read_ahead_kb",
	},
	{
		Name: "scheduler", Level: Note, look: scheduler,
		Why:    "bfq trades throughput of fast devices for fairness",
		Change: "write none or mq-deadline to the device's queue/scheduler",
	},
	{
		Name: "io_accounting", Level: Warning, look: accounting,
		Why:    "the device's requests are not counted, so all costs of disk would read zero",
		Change: "write 1 to the device's queue/iostats",
	},
	{
		Name: "raid_busy", Level: Warning, look: raidBusy,
		Why:    "an array that rebuilds or is checked does requests of its own, which are counted",
		Change: "wait until it is done, see /proc/mdstat",
	},
}

func freeSpace(h *host) string {
	free, need := h.about.FreeBytes, h.about.NeedBytes
	if !free.OK || !need.OK || free.V >= need.V/100*110 { // some is needed beside the data
		return ""
	}
	return fmt.Sprintf("%s free, about %s needed", gib(free.V), gib(need.V))
}

func deviceNotes(h *host) string {
	var out []string
	for _, d := range h.devices {
		for _, n := range d.Notes {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return strings.Join(out, "; ")
}

// mounted lists the mounts of the directories for which found says yes to one of the options.
func mounted(h *host, found func(option string) bool) string {
	var out []string
	for _, d := range h.devices {
		for o := range strings.SplitSeq(d.Options, ",") {
			if v := fmt.Sprintf("%s (%s) with %s", d.MountPoint, d.FSType, o); found(o) && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return strings.Join(out, ", ")
}

// mountAtime: the kernel names relatime and noatime; with neither every read updates the time (man
// 8 mount, strictatime).
func mountAtime(h *host) string {
	var out []string
	for _, d := range h.devices {
		options := strings.Split(d.Options, ",")
		if !slices.Contains(options, "relatime") && !slices.Contains(options, "noatime") && !slices.Contains(options, "ro") {
			out = append(out, d.MountPoint+" with strictatime")
		}
	}
	return strings.Join(slices.Compact(out), ", ")
}

func mountDiscard(h *host) string {
	return mounted(h, func(o string) bool { return o == "discard" || strings.HasPrefix(o, "discard=") })
}

func mountSync(h *host) string { return mounted(h, func(o string) bool { return o == "sync" }) }

func mountBarrier(h *host) string {
	return mounted(h, func(o string) bool { return o == "nobarrier" || o == "barrier=0" })
}

// queue lists the disks whose queue setting found describes.
func queue(h *host, file string, found func(value string) string) string {
	var out []string
	for _, d := range h.disks {
		if v := found(h.sys("block", d, "queue", file)); v != "" {
			out = append(out, d+": "+v)
		}
	}
	return strings.Join(out, ", ")
}

// readAhead notes what is above the kernel's default.
func readAhead(h *host) string {
	return queue(h, "read_ahead_kb", func(v string) string {
		if kb, err := strconv.Atoi(v); err != nil || kb <= 128 {
			return ""
		}
		return v + " kB"
	})
}

func scheduler(h *host) string {
	return queue(h, "scheduler", func(v string) string {
		if chosen(v) != "bfq" {
			return ""
		}
		return "bfq"
	})
}

func accounting(h *host) string {
	return queue(h, "iostats", func(v string) string {
		if v != "0" {
			return ""
		}
		return "iostats is off"
	})
}

func raidBusy(h *host) string {
	var out []string
	for _, d := range h.disks {
		action := h.sys("block", d, "md/sync_action")
		if slices.Contains([]string{"resync", "recover", "check", "repair", "reshape"}, action) {
			out = append(out, d+": "+action)
		}
	}
	return strings.Join(out, ", ")
}
