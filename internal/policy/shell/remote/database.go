package remote

import (
	"slices"
	"strings"
	"sync"

	"hermes/internal/lazy"
	"hermes/internal/policy/shell/code"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

const losesData = "deletes or resets data of a database, a queue or an index"

// databases judges the tools of databases and of frameworks that manage one.
func databases(l *track.Line, name string, rest []string, in track.Input) {
	words := getopt.VerbWords(rest)
	if in.Known && isClient(name) { // a client reads a command from each line
		for line := range strings.SplitSeq(in.Text, "\n") {
			if !l.Step() {
				break
			}
			if dropsData(name, strings.Fields(line), []string{line}) {
				l.Ask("database-reset", losesData)
			}
		}
	}
	if found := dropsData(name, words, rest) || resetsSchema(name, words, rest); found && !getopt.IsRehearsal(name, rest) {
		l.Ask("database-reset", losesData)
	}
	if !isDatabaseClient(name) {
		return
	}
	for _, text := range append([]string{in.Text}, rest...) {
		if clientCode().MatchString(text) {
			l.Ask("database-exec", "makes a database or its client run a program or write a file")
		}
		if buildsSQL().MatchString(text) {
			l.Ask("dynamic-sql", "runs SQL that is built at run time")
		}
		if grantsRights().MatchString(text) {
			l.Ask("database-rights", "changes who may use a database")
		}
		if updatesAll().MatchString(text) && !strings.Contains(strings.ToLower(text), "where") {
			l.Ask("destructive-sql", "deletes database tables or all their rows")
		}
	}
}

// buildsSQL matches statements whose text is put together in the database.
var buildsSQL = lazy.Regexp(`(?i)\bexecute\s+(immediate\s+)?('[^']*'\s*\|\||format\s*\(|concat|\w*\s*\|\||immediate\b)|\bexec(ute)?\s*\(|\bsp_executesql\b|\bprepare\s+\w+\s+from\b|\\\\gexec\b`)

// dropsData reports whether the client or administration tool of a database
// deletes data.
func dropsData(name string, words, rest []string) bool {
	line := strings.ToLower(strings.Join(rest, " "))
	has := func(verbs ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(verbs, strings.ToLower(w)) })
	}
	switch strings.TrimSuffix(name, ".sh") {
	case "dropdb", "dropuser", "pg_dropcluster", "pg_resetwal", "pg_resetxlog", "cbc-flush":
		return len(rest) > 0
	case "mysqladmin", "mariadb-admin":
		return has("drop", "shutdown", "kill", "password", "flush-privileges")
	case "redis-cli", "valkey-cli", "keydb-cli":
		return redisLoses(words)
	case "mongo", "mongosh":
		return mongoLoses().MatchString(line)
	case "mongorestore":
		return getopt.HasLong(rest, "--drop")
	case "pg_restore":
		return getopt.HasShort(rest, "c") || getopt.HasLong(rest, "--clean")
	case "influx":
		return has("delete") || strings.Contains(line, "drop ")
	case "cqlsh", "clickhouse-client", "clickhouse", "cypher-shell", "isql", "sqlcmd", "osql", "sqlplus", "bq", "duckdb", "trino", "presto", "snowsql", "hive", "beeline", "spark-sql":
		return dropsAny().MatchString(line)
	case "kafka-topics", "kafka-consumer-groups", "kafka-configs", "kafka-acls", "pulsar-admin":
		return strings.Contains(line, "--delete") || strings.Contains(line, "--reset-offsets") || has("delete")
	case "kafka-delete-records":
		return true
	case "rabbitmqctl", "rabbitmqadmin":
		return len(words) > 0 && getopt.DeedOf(words[0], "") == getopt.Deletes
	case "zkcli", "etcdctl":
		return has("delete", "deleteall", "rmr", "del")
	case "curl", "http", "https", "xh", "wget", "curlie":
		return slices.ContainsFunc(requestMethods(rest), func(m string) bool { return strings.EqualFold(m, "DELETE") }) || len(words) > 0 && words[0] == "DELETE" || strings.Contains(line, "--method=delete") || strings.Contains(line, "_delete_by_query")
	}
	return false
}

// requestMethods returns the methods with which a client such as curl sends a
// request.
func requestMethods(rest []string) []string {
	methods := getopt.OptionValues(rest, "--request", "--request")
	for option, value := range getopt.ShortOptions(rest, "ACDEFHKPQTUXYbcdehmortuwxyz") {
		if option == 'X' {
			methods = append(methods, value)
		}
	}
	return methods
}

// isClient reports whether a program reads commands for a database from its input.
func isClient(name string) bool {
	return lex.Within("mongo mongosh redis-cli valkey-cli keydb-cli influx cypher-shell zkCli.sh zkcli clickhouse-client", name)
}

// redisLoses reports whether a Redis command deletes everything, an unknown key,
// or changes how the server works.
func redisLoses(words []string) bool {
	for i, w := range words {
		switch strings.ToLower(w) {
		case "flushall", "flushdb", "shutdown", "debug", "module", "slaveof", "replicaof", "swapdb", "migrate", "failover", "reset", "eval", "script", "function":
			return true
		case "config", "acl", "cluster":
			return i+1 < len(words) && getopt.DeedOf(words[i+1], "resetstat nodes slots info getuser users") != getopt.Looks
		case "del", "unlink":
			return i+1 >= len(words) || lex.Dynamic(strings.Join(words[i+1:], " "))
		case "get", "set", "ping", "info", "keys", "scan":
			return false
		}
	}
	return false
}

// resetsSchema reports whether a framework's command drops tables or undoes
// migrations.
func resetsSchema(name string, words, rest []string) bool {
	switch name {
	case "rails", "rake":
		return slices.ContainsFunc(words, railsResets) || strings.EqualFold(getopt.At(words, 0), "runner") && railsLoses().MatchString(strings.Join(rest, " "))
	case "console":
		return getopt.Fits(words, rest, "any=*:drop*,*:purge*,*fixtures:load*")
	}
	pattern, known := resets()[name]
	lower := make([]string, len(words))
	for i, w := range words {
		lower[i] = strings.ToLower(w)
	}
	return known && getopt.Fits(lower, rest, pattern)
}

var resets = sync.OnceValue(func() getopt.Table {
	return getopt.NewTable(`
		prisma: 0=migrate&1=reset --force-reset --accept-data-loss 0=db&1=execute
		sequelize sequelize-cli: any=db:drop,db:migrate:undo,db:migrate:undo:all
		knex: any=migrate:rollback,migrate:down,seed:run
		typeorm mikro-orm typeorm-ts-node-commonjs: any=schema:drop,migration:revert,migration:down,schema:fresh,migration:fresh,database:drop
		drizzle-kit: any=drop 0=push
		manage.py django-admin django-admin.py: any=flush,reset_db,sqlflush,reset_schema,clear_index any=migrate&any=zero
		artisan: any=migrate:fresh,migrate:reset,migrate:refresh,migrate:rollback,db:wipe,queue:flush,queue:clear
		alembic: any=downgrade
		flask: any=downgrade,drop
		mix: any=ecto.drop,ecto.reset,ecto.rollback
		sqlx: 0=database&1=drop,reset 1=revert
		diesel: 0=database&1=reset,drop 1=revert,redo
		dbmate goose migrate liquibase flyway atlas bytebase sql-migrate tern rambler hasura: any=drop,down,down-to,reset,rollback,drop-all,dropall,clean,reset-to,rollback-count,undo`)
})

func railsResets(task string) bool {
	parts := strings.Split(task, ":")
	return parts[0] == "db" && slices.ContainsFunc(parts[1:], func(p string) bool {
		return slices.Contains([]string{"drop", "reset", "truncate_all", "load", "rollback", "down", "redo", "purge", "replant", "environment", "setup"}, p)
	})
}

var mongoLoses = lazy.Regexp(`dropdatabase|\.drop(indexes|user|allusers)?\(|deletemany\(|\.remove\(|deleteone\(\s*\{\s*\}|shutdownserver|dropallroles`)

var dropsAny = lazy.Regexp(`\b(drop|truncate)\s+\w|\bdelete\s+from\b|\bdetach\s+delete\b`)

var railsLoses = lazy.Regexp(`(?i)delete_all|destroy_all|drop_table|truncate|system\(|exec\(|%x[^a-f0-9]`)

var clientCode = lazy.Regexp(`(?is)(^|[\s;])\\!|\bcopy\b.*\b(from|to)\s+program\b|\binto\s+(out|dump)file\b|\bxp_cmdshell\b|^\s*\.(shell|system|load)\b|\blo_export\b|\bload_extension\s*\(|\bload\s+data\s+(local\s+)?infile\b|\bsys_exec\b|\bvacuum\s+into\b`)

var grantsRights = lazy.Regexp(`(?is)\b(grant|revoke)\s.+\s(to|from)\s|\b(create|alter)\s+(user|role)\b|\bset\s+password\b`)

var updatesAll = lazy.Regexp(`(?is)\bupdate\s+[\w."\[\]]+\s+set\s`)

// isDatabaseClient reports whether a program runs statements that it is given.
func isDatabaseClient(name string) bool {
	return lex.Within("psql mysql mariadb sqlite3 sqlite duckdb sqlcmd isql osql sqlplus clickhouse-client mycli pgcli usql litecli cqlsh", name)
}

// Sql looks for statements that delete tables or all their rows in the arguments
// and input of a command. It skips programs that only show, search or store
// text: to them it is data.
func Sql(l *track.Line, name string, args []string, in track.Input) {
	switch name {
	case "echo", "printf", "cat", "grep", "egrep", "fgrep", "rg", "ag", "ack", "git", "gh", "tee", "sed", "awk", "less", "head", "tail", "find", "ls", "truncate":
		return
	}
	texts := args
	if code.IsStatement(name) {
		texts = []string{name + " " + strings.Join(args, " ")}
	}
	for _, text := range append([]string{in.Text}, texts...) {
		if len(text) > 8 && code.Destroys(text) {
			l.Ask("destructive-sql", "deletes database tables or all their rows")
			return
		}
	}
}
