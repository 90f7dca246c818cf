package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRedact(t *testing.T) {
	for _, tc := range []struct{ name, args, want string }{
		{"nothing to hide", "ibench load --rows=10 --user root", "ibench load --rows=10 --user root"},
		{"with =", "ibench load --password=zebra --rows=1", "ibench load --password=*** --rows=1"},
		{"one dash", "ibench load -password=zebra", "ibench load -password=***"},
		{"two words", "ibench load --password zebra --rows=1", "ibench load --password *** --rows=1"},
		{"two words, one dash", "ibench load -password zebra", "ibench load -password ***"},
		{"looks like a flag", "ibench load --password --dsn=zebra", "ibench load --password ***"},
		{"empty", "ibench load --password= --rows=1", "ibench load --password=*** --rows=1"},
		{"last word", "ibench load --password", "ibench load --password"},
		{"other flags of that beginning", "ibench load --password-file=pw --ask-password", "ibench load --password-file=pw --ask-password"},
		{"DSN", "ibench load --dsn=u:zebra@tcp(h:1)/d", "ibench load --dsn=u:***@tcp(h:1)/d"},
		{"DSN, two words", "ibench load -dsn u:zebra@unix(/s)/d?tls=true", "ibench load -dsn u:***@unix(/s)/d?tls=true"},
		{"DSN without a password", "ibench load --dsn=u@tcp(h:1)/d", "ibench load --dsn=u@tcp(h:1)/d"},
		{"DSN with signs in the password", "ibench load --dsn=u:ze:br/a@@tcp(h:1)/d", "ibench load --dsn=u:***@tcp(h:1)/d"},
		{"DSN that can't be read", "ibench load --dsn=u:zebra@tcp(h:1", "ibench load --dsn=***"},
		{"DSN without a host", "ibench load --dsn=u:zebra/d", "ibench load --dsn=***"},
		{"DSN without an @", "ibench load --dsn=u:zebra(h:1)/d", "ibench load --dsn=***"},
		{"URI", "ibench load --uri=mongodb://u:zebra@h:1/?w=1", "ibench load --uri=mongodb://u:***@h:1/?w=1"},
		{"URI, two words", "ibench load --uri mongodb://u:zebra@h:1/?w=1", "ibench load --uri mongodb://u:***@h:1/?w=1"},
		{"setting", "linkbench -D password=zebra -D maxid1=9", "linkbench -D password=*** -D maxid1=9"},
		{"setting, one word", "linkbench -D=password=ze=bra --D=port=1", "linkbench -D=password=*** --D=port=1"},
		{"setting of a URI", "linkbench -D url=mongodb://u:zebra@h:1/?w=1", "linkbench -D url=mongodb://u:***@h:1/?w=1"},
	} {
		if diff := cmp.Diff(strings.Split(tc.want, " "), Redact(strings.Split(tc.args, " "))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if got := Redact([]string{"--password=ze\nbra"}); got[0] != "--password=***" {
		t.Errorf("a line end: got %q", got)
	}
	if got := Redact(nil); len(got) != 0 {
		t.Errorf("no arguments: got %q", got)
	}
}

// FuzzRedact gives a secret in every way there is, between other arguments:
// it must not be found in what is recorded.
func FuzzRedact(f *testing.F) {
	for _, secret := range []string{"zebra", "ze/bra", "ze@bra", "ze:bra", "zebra)/x", "ze\nbra", "ze?bra=1", "--rows=77", "ze%2Fbra"} {
		f.Add(secret, "--tag", "x")
	}
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < 5 || strings.Contains("--D=password=***--dsn=uuuu:***@tcp(hhhh:1)/dddd", secret) {
			t.Skip("it can't be told from the rest")
		}
		dsn := "uuuu:" + secret + "@tcp(hhhh:1)/dddd"
		for _, args := range [][]string{
			{"--password=" + secret}, {"-password=" + secret}, {"--password", secret}, {"-password", secret},
			{"--dsn=" + dsn}, {"-dsn=" + dsn}, {"--dsn", dsn},
			{"-D", "password=" + secret}, {"-D=password=" + secret}, {"--D", "password=" + secret},
			{"--dsn=uuuu:" + secret + "/dddd"}, {"--dsn=uuuu:" + secret + "(hhhh:1)/dddd"}, {"--dsn=uuuu:" + secret},
		} {
			got := strings.Join(Redact(args), "\n")
			if strings.Contains(got, secret) {
				t.Fatalf("%q became %q", args, got)
			}
			if n := len(Redact(append(append([]string{before}, args...), after))); n != len(args)+2 {
				t.Fatalf("%d arguments became %d", len(args)+2, n)
			}
		}
	})
}
