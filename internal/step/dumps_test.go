package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServerFilesHideSecrets(t *testing.T) {
	config := `[mysqld]
port=3306
password = zebra
wsrep_sst_auth=root:zebra
ssl_key=/etc/key.pem
ssl-passphrase-token=zebra
innodb_buffer_pool_size=1G
`
	want := `[mysqld]
port=3306
password = ***
wsrep_sst_auth = ***
ssl_key=/etc/key.pem
ssl-passphrase-token = ***
innodb_buffer_pool_size=1G
`
	if diff := cmp.Diff(want, string(redactConfig([]byte(config)))); diff != "" {
		t.Errorf("option file (-want +got):\n%s", diff)
	}
	yaml := "net:\n  tls:\n    certificateKeyFilePassword: zebra\n  port: 27017\n"
	if diff := cmp.Diff("net:\n  tls:\n    certificateKeyFilePassword = ***\n  port: 27017\n", string(redactConfig([]byte(yaml)))); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
	args := []string{"mariadbd", "--init-password=zebra", "--wsrep-sst-auth", "u:zebra", "--port=3306", "--user", "mysql"}
	if diff := cmp.Diff([]string{"mariadbd", "--init-password=***", "--wsrep-sst-auth", "***", "--port=3306", "--user", "mysql"}, hidePasswords(args)); diff != "" {
		t.Errorf("command line (-want +got):\n%s", diff)
	}
}
