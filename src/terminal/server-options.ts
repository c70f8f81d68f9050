import { isIP } from 'node:net'
import { type Command, Option } from 'commander'
import { UsageError } from '../command/command-line.ts'
import { type Format, outputOption } from '../command/output.ts'

/** The flags by which a command finds a running server, and signs in. */
export interface ServerFlags {
  readonly server?: string
  /** The name of `--server` in former versions. */
  readonly url?: string
  readonly context?: string
  readonly username?: string
}

/** Adds the flags by which a command finds a running server. */
export function addServerOptions(command: Command): Command {
  return command
    .optionsGroup('Server:')
    .option('--server <url>', 'the address of the server (or WAYPOST_SERVER)')
    .addOption(new Option('--url <url>', 'the same as --server').hideHelp())
    .option('--context <name>', 'a context of `waypost context list` (or WAYPOST_CONTEXT)')
    .option('--username <name>', 'sign in as this user, by WAYPOST_PASSWORD or a prompt')
    .optionsGroup('Options:')
}

/** Adds the flag for the namespace of a command. */
export function addNamespaceOption(command: Command): Command {
  return command.option('-n, --namespace <id>', 'the namespace (or WAYPOST_NAMESPACE; default: public)')
}

/** The flags of commands that work on a running server. */
export interface ClientFlags extends ServerFlags {
  readonly namespace?: string
  readonly output?: Format
}

/** Throws UsageError for an `--ip` that is no address: no client would have it. */
export function requireAddress(ip: string | undefined): void {
  if (ip !== undefined && isIP(ip) === 0)
    throw new UsageError(`--ip must be an address such as 10.0.0.7, but is ${JSON.stringify(ip)}`)
}

/** Adds how to print, and how to find the server. */
export function addClientOptions(command: Command): Command {
  return addServerOptions(command.addOption(outputOption()).addOption(new Option('--json').hideHelp()))
}

/** Like addClientOptions, for commands about things in a namespace. */
export function addNamespacedOptions(command: Command): Command {
  return addClientOptions(addNamespaceOption(command))
}
