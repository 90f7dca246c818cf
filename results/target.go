package results

// Metrics of a step that was asked for a rate.
const (
	TargetRate    = "target_rows_per_second"
	TargetPercent = "target_percent"
)

// sustainedPercent is how much of a target rate counts as met, as in the
// original's reports.
const sustainedPercent = 95

// Missed is whether the step was asked for a rate and didn't sustain it.
func Missed(s *Step) bool {
	v := s.Metrics[TargetPercent].Value
	return v != nil && *v < sustainedPercent
}
