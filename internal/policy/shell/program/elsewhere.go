package program

import "hermes/internal/policy/shell/lex"

// ActsElsewhere reports whether a program runs commands, or changes files, on another machine or in
// another container.
func ActsElsewhere(name string) bool {
	return lex.Within("ssh slogin rsh remsh mosh plink pssh parallel-ssh pdsh clush dsh scp sftp lftp ftp rsync rclone "+
		"docker podman nerdctl kubectl oc helm nomad ansible ansible-playbook salt fab aws gcloud gsutil az doctl fly flyctl heroku vagrant", name)
}
