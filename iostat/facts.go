package iostat

import (
	"fmt"
	"strings"
	"unicode"
)

// DeviceDisks is DataDisks for a device a user named: "sda", "/dev/sda", a partition, a stacked
// device.
func (r Root) DeviceDisks(name string) (Devices, error) {
	d := Devices{Source: name}
	b, err := r.findBlock(r.deviceName(name))
	if err != nil {
		return d, err
	}
	r.add(&d, b, false, maxDepth)
	if len(d.Watch) == 0 {
		return d, fmt.Errorf("the kernel counts no requests of %s; write 1 to %s", b.name,
			r.sys("block", b.whole(), "queue/iostats"))
	}
	return d, nil
}

// DeviceFacts says what a device is.
type DeviceFacts struct {
	Name       string     `json:"name"`
	Model      string     `json:"model,omitempty"` // as the disk or the mapper calls it
	SizeBytes  Opt[int64] `json:"size_bytes"`
	Rotational Opt[bool]  `json:"rotational"`
	Scheduler  string     `json:"scheduler,omitempty"`
	WriteCache string     `json:"write_cache,omitempty"` // "write back" or "write through"
}

// Facts reads what a device is; what it doesn't say is left out.
// Documentation/ABI/stable/sysfs-block.
func (r Root) Facts(name string) DeviceFacts {
	f := DeviceFacts{Name: name}
	b, err := r.findBlock(r.deviceName(name))
	if err != nil {
		return f
	}
	whole := b.whole()
	word := func(elem ...string) string {
		v, err := readWord(r.sys(append([]string{"block"}, elem...)...))
		if err != nil || strings.ContainsFunc(v, func(c rune) bool { return !unicode.IsPrint(c) }) {
			return ""
		}
		return v
	}
	for _, file := range []string{"device/model", "dm/name", "md/level"} {
		if f.Model == "" {
			f.Model = word(whole, file)
		}
	}
	if sectors, ok := parseInt([]byte(word(b.path(), "size"))); ok && sectors < 1<<53 {
		f.SizeBytes = Some(sectors * 512)
	}
	if v := word(whole, "queue/rotational"); v == "0" || v == "1" {
		f.Rotational = Some(v == "1")
	}
	f.Scheduler = word(whole, "queue/scheduler")
	if _, in, ok := strings.Cut(f.Scheduler, "["); ok {
		f.Scheduler, _, _ = strings.Cut(in, "]")
	}
	f.WriteCache = word(whole, "queue/write_cache")
	return f
}

// Disks lists the whole disks and stacked devices that did anything since boot, as iostat does.
func (r Root) Disks() []string {
	var out []string
	for _, name := range r.blockNames() {
		if exists(r.sys("block", name, "stat")) && !r.idleSinceBoot(name) {
			out = append(out, name)
		}
	}
	return out
}
