// Package iostat reads what a benchmark costs in hardware from the kernel's own counters: disk
// operations and sectors, CPU ticks of the host, of the server's process tree and of the client,
// memory, paging, pressure and control groups.
//
// Everything is read below a Root, so that a test can use a recorded tree; no program is ever
// started. A Sampler takes a Sample, two samples give a Delta, and deltas are integers: those of
// the single seconds add up to the one between the ends, exactly. What can't be read is not known
// (Opt.OK is false, null in JSON) and never zero. DataDisks finds the devices beneath a data
// directory, ProveLocal proves that a server runs on this host.
//
// Sources: kernel Documentation/admin-guide/iostats.rst, Documentation/block/stat.rst,
// Documentation/filesystems/proc.rst, Documentation/accounting/psi.rst,
// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/. On systems other than Linux the package
// builds and nothing is known.
package iostat
