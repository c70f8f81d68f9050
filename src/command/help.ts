import { settingsHelp } from '../settings/reference.ts'

/** What `waypost help` prints. */
export function helpText(version: string): string {
  return `waypost ${version}: a server for configuration, service discovery and namespaces

Usage: waypost <command> [flags]

Commands:
  start      start the server in this process; SIGTERM or SIGINT stops it
  help       print this text, as --help does
  version    print the version, as --version does

Settings of start, with their defaults. Each is a flag (--port 8848), an environment variable (WAYPOST_PORT=8848)
or a line of the file named by --settings FILE or WAYPOST_SETTINGS:

${settingsHelp()}`
}
