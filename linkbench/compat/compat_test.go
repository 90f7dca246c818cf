package compat

import "testing"

func TestNamesRoundTrip(t *testing.T) {
	for _, m := range Modes() {
		var got Mode
		if err := got.UnmarshalText([]byte(m.String())); err != nil || got != m {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	if _, err := Parse("fb"); err == nil {
		t.Error("fb was accepted")
	}
}
