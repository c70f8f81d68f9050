import { createInterface } from 'node:readline/promises'
import { type CommandResult, DiffersError, EXIT, UsageError, done } from '../command/command-line.ts'
import { table } from '../command/terminal-text.ts'
import {
  checkedContextName,
  type Context,
  readClientFile,
  saveContext,
  writeClientFile,
} from './client-file.ts'
import { jsonOf, reach } from './no-answer.ts'
import { ServerSession } from './server-session.ts'
import { serverUrl, targetOf } from './session-of-flags.ts'

/** The flags of `waypost context set`. */
export interface ContextFlags {
  readonly server?: string
  readonly namespace?: string
  readonly username?: string
}

/** The flags of `waypost login`. */
export interface LoginFlags extends ContextFlags {
  readonly context?: string
}

/** `waypost login [server]`: stores the token in the context, and makes it the current context. */
export async function login({ ...flags }: LoginFlags, server?: string): Promise<CommandResult> {
  if (server !== undefined && flags.server !== undefined && server !== flags.server)
    throw new UsageError('The server is named twice: by a word and by --server.')
  return loginTo(server === undefined ? flags : { ...flags, server })
}

async function loginTo(flags: LoginFlags): Promise<CommandResult> {
  const { contexts } = readClientFile()
  const named = flags.context === undefined ? undefined : contexts.get(checkedContextName(flags.context))
  const target =
    flags.server === undefined && named !== undefined
      ? undefined
      : targetOf(flags.server === undefined ? {} : { server: flags.server })
  const url = target?.url ?? named!.server
  const name = flags.context ?? target?.name ?? nameOf(url)
  const before = named ?? target?.context
  const namespace = flags.namespace ?? before?.namespace
  const context = { server: url, ...(namespace === undefined ? {} : { namespace }) }
  const open = (): CommandResult => {
    saveContext(name, { ...context, username: '' }, { makeCurrent: true })
    return done(`${url} lets everybody in: nothing was signed in. The context ${name} is the current one.`)
  }
  const known = flags.username ?? (before?.username || undefined)
  if (known === undefined && (await letsEverybodyIn(url, target?.origin))) return open()
  const username = known ?? (await askedUsername())
  const issued = await new ServerSession(url, { username }).signIn(username)
  if (!(await isKnown(url, issued.token))) return open()
  saveContext(name, { ...context, username, ...issued }, { makeCurrent: true })
  const until = new Date(issued.expiresMs).toISOString()
  return done(`Signed in to ${url} as ${username}, until ${until}. The context ${name} is the current one.`)
}

/** Whether a caller without credentials may ask: nobody signs in there. */
async function letsEverybodyIn(url: string, origin = ''): Promise<boolean> {
  return (await reach(url, '/svc/v1/console/session', { origin })).ok
}

/** Whether the token names somebody: a server that lets everybody in gives tokens to everybody. */
async function isKnown(url: string, token: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${token}` }
  const answer = await reach(url, '/svc/v1/console/session', { headers })
  return answer.ok && ((await jsonOf(url, answer)) as { username: string }).username !== ''
}

async function askedUsername(): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError('--username is required: who signs in')
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const username = await asking.question('Username: ')
  asking.close()
  if (username === '') throw new UsageError('--username is required: who signs in')
  return username
}

/** The name for a new context: the host of the server, and an unusual port. */
function nameOf(url: string): string {
  const { hostname, port } = new URL(url)
  const host = hostname.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^-|-$/g, '')
  return checkedContextName(port === '' || port === '8848' ? host : `${host}-${port}`)
}

/** `waypost logout`. */
export function logout({ context: given }: LoginFlags): CommandResult {
  const { current, contexts } = readClientFile()
  const name = given ?? current
  const { token, ...rest } = known(contexts, name)
  saveContext(name, rest, { makeCurrent: false })
  return done(
    token === undefined ? `The context ${name} has no token.` : `The token of ${name} is forgotten.`,
  )
}

/** `waypost context list`. */
export function listContexts(): CommandResult {
  const { current, contexts } = readClientFile()
  const found = [...contexts].map(([name, { server, namespace = '', username = '', token, expiresMs }]) => ({
    name,
    current: name === current,
    server,
    namespaceId: namespace,
    username,
    signedInUntil: token === undefined ? null : (expiresMs ?? null),
  }))
  const rows = found.map((one) => [
    `${one.current ? '*' : ' '} ${one.name}`,
    one.server,
    one.namespaceId,
    one.username,
    one.signedInUntil === null ? '' : new Date(one.signedInUntil).toISOString(),
  ])
  return {
    code: EXIT.done,
    painted: table(['  NAME', 'SERVER', 'NAMESPACE', 'USER', 'SIGNED IN UNTIL'], rows),
    json: found,
    names: found.map(({ name }) => name),
  }
}

/** `waypost context use`. */
export function useContext(name: string): CommandResult {
  const { contexts } = readClientFile()
  known(contexts, name)
  writeClientFile({ current: name, contexts })
  return done(`The context ${name} is the current one.`)
}

/** `waypost context set`. The token stays if the server and the user do. */
export function setContext(name: string, { server, namespace, username }: ContextFlags): CommandResult {
  const { contexts } = readClientFile()
  const before = contexts.get(checkedContextName(name))
  const url = server === undefined ? before?.server : serverUrl(server)
  if (url === undefined) throw new UsageError('--server is required: the address of the server')
  const isSame = url === before?.server && (username === undefined || username === before.username)
  const { token, renewMs = 0, expiresMs, ...rest } = { ...before }
  const context: Context = {
    ...rest,
    server: url,
    ...(namespace === undefined ? {} : { namespace }),
    ...(username === undefined ? {} : { username }),
    ...(isSame && token !== undefined && expiresMs !== undefined ? { token, renewMs, expiresMs } : {}),
  }
  saveContext(name, context, { makeCurrent: contexts.size === 0 })
  return done(`The context ${name} names ${url}.`)
}

/** `waypost context remove`. */
export function removeContext(name: string): CommandResult {
  const { current, contexts } = readClientFile()
  known(contexts, name)
  const others = new Map([...contexts].filter(([one]) => one !== name))
  writeClientFile({ current: current === name ? '' : current, contexts: others })
  return done(`The context ${name} is removed.`)
}

function known(contexts: ReadonlyMap<string, Context>, name: string): Context {
  const context = contexts.get(name)
  if (context !== undefined) return context
  if (name === '') throw new DiffersError('There is no current context: `waypost login` makes one.')
  throw new DiffersError(`There is no context ${JSON.stringify(name)}.`)
}
