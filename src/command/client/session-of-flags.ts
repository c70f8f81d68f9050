import { UsageError } from '../command-line.ts'
import { type Context, readClientFile, saveContext } from './client-file.ts'
import type { ServerFlags } from './server-options.ts'
import { ServerSession, type StoredToken } from './server-session.ts'
import { SvcClient } from './svc-client.ts'

/** The default address of a server. */
const DEFAULT_URL = 'http://127.0.0.1:8848'

/** The flags of commands about things in a namespace. */
export interface NamespaceFlags extends ServerFlags {
  readonly namespace?: string
}

/** A server, and the context that it comes from. */
export interface Target {
  readonly url: string
  readonly name: string | undefined
  readonly context: Context | undefined
}

/** Whether the flags or variables name a server. */
export function namesServer({ server, url, context }: ServerFlags): boolean {
  return server !== undefined || url !== undefined || context !== undefined
}

/** The address of a server, without a slash at its end. Throws UsageError for another text. */
export function serverUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(
      `--server must be an address such as ${DEFAULT_URL}, but is ${JSON.stringify(value)}`,
    )
  if (url.username !== '' || url.password !== '')
    throw new UsageError(
      '--server must be without a user and a password: give them by --username and a prompt',
    )
  return value.replace(/\/+$/, '')
}

/** The server of `--server`, `--context`, WAYPOST_SERVER, WAYPOST_CONTEXT, the current context, else of this machine. */
export function targetOf(flags: ServerFlags): Target {
  const { WAYPOST_SERVER: serverOfEnvironment, WAYPOST_CONTEXT: contextOfEnvironment } = process.env
  const address = flags.server ?? flags.url
  if (address !== undefined && flags.context !== undefined)
    throw new UsageError('--server and --context exclude each other: a context names a server')
  if (address !== undefined) return byAddress(serverUrl(address))
  if (flags.context !== undefined) return byName(flags.context)
  if (serverOfEnvironment) return byAddress(serverUrl(serverOfEnvironment))
  if (contextOfEnvironment) return byName(contextOfEnvironment)
  const { current } = readClientFile()
  return current === '' ? byAddress(DEFAULT_URL) : byName(current)
}

/** A token goes only to the server that it is for. */
function byAddress(url: string): Target {
  const { current, contexts } = readClientFile()
  const fitting = [...contexts].filter(([, { server }]) => server === url)
  const [name, context] = fitting.find(([one]) => one === current) ?? fitting[0] ?? []
  return { url, name, context }
}

function byName(name: string): Target {
  const context = readClientFile().contexts.get(name)
  if (context === undefined)
    throw new UsageError(`There is no context ${JSON.stringify(name)}: \`waypost context list\` shows them.`)
  return { url: context.server, name, context }
}

/** The session of a command on its server. */
export function sessionOf(flags: ServerFlags): ServerSession {
  const target = targetOf(flags)
  return new ServerSession(target.url, { username: flags.username, stored: tokenOf(target) })
}

/** The server of a command, and the namespace that it works in. */
export function clientOf(flags: NamespaceFlags): SvcClient {
  return new SvcClient(sessionOf(flags), namespaceOf(flags, targetOf(flags)))
}

/** The id of the namespace of a command; empty: the default namespace. */
export function namespaceOf({ namespace: given }: NamespaceFlags, { context }: Target): string {
  const namespace = given ?? process.env['WAYPOST_NAMESPACE'] ?? context?.namespace ?? ''
  return namespace === 'public' ? '' : namespace
}

/** How the context of a server signs in; undefined if nobody has signed in there. */
export function tokenOf({ name, context }: Target): StoredToken | undefined {
  if (name === undefined || context?.username === undefined) return undefined
  const { username, token, renewMs = 0, expiresMs } = context
  return {
    username,
    issued: token === undefined || expiresMs === undefined ? undefined : { token, renewMs, expiresMs },
    save: (issued) => saveContext(name, { ...context, ...issued }, { makeCurrent: false }),
  }
}
