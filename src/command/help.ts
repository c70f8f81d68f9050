import { settingsHelp } from '../settings/reference.ts'

/** What `waypost help` prints. */
export function helpText(version: string): string {
  return `waypost ${version}: a server for configuration, service discovery and namespaces

Usage: waypost <command> [flags]

Commands:
  start      start the server in this process; SIGTERM or SIGINT stops it
  export     write the configurations of a namespace into a zip file, from a Waypost or Nacos server:
               waypost export --url http://127.0.0.1:8848 --namespace N --to FILE.zip [--group G] [--data-id D]
             --all-namespaces --to DIRECTORY writes a file for each namespace; * in G and D matches any text
  import     publish the items of such a file in a namespace; --policy says what happens to items that exist:
               waypost import --url http://127.0.0.1:8848 --namespace N --from FILE.zip [--dry-run]
                              [--policy abort|skip|overwrite (default abort)]
  backup     copy the store of a running server and verify the copy:
               waypost backup --url http://127.0.0.1:8848 [--to DIR] [--label WORD] [--json]
             or of a stopped one: waypost backup --data-dir D --to DIR
  restore    verify a backup and copy it into a new data directory:
               waypost restore --from DIR --data-dir D [--json]
  doctor     check every record of a stopped server's store; exit code 0: sound, 1: damaged, 2: cannot check
               waypost doctor --data-dir D [--repair NEWDIR (save there what is sound)] [--json]
  user       manage users, in the directory of a stopped server, or on a running one: --url instead of --data-dir; or
             in etcd: --etcd-endpoints http://a:2379,… [--etcd-prefix P]
               waypost user add NAME [--admin] --data-dir D
               waypost user password NAME --data-dir D
               waypost user list --data-dir D [--json]
               waypost user remove NAME --data-dir D
             passwords come from a prompt, or from standard input
  key        sign new tokens with another key: waypost key rotate --data-dir D [--leaked (end all old tokens)]
             Commands with --url sign in by --username NAME, with the password in WAYPOST_PASSWORD or from a prompt, or
             by a token in WAYPOST_ACCESS_TOKEN
  help       print this text, as --help does
  version    print the version, as --version does

Settings of start, with their defaults. Each is a flag (--port 8848), an environment variable (WAYPOST_PORT=8848)
or a line of a file: --settings FILE or WAYPOST_SETTINGS=FILE. The message about a wrong value lists the allowed ones:

${settingsHelp()}`
}
