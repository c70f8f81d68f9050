import { UsageError, DiffersError } from '../command/command-line.ts'
import { tell } from '../command/standard-error.ts'
import { type Context, readClientFile, saveContext } from './client-file.ts'
import type { ServerFlags } from './server-options.ts'
import { ServerSession, type StoredToken, problemOf } from './server-session.ts'
import { jsonOf } from './no-answer.ts'

/** Parameters of a request; undefined ones are left out. */
export type Params = Readonly<Record<string, string | number | boolean | undefined>>

/** A page of a list, as the server answers it. */
interface ListPage<T> {
  readonly pagesAvailable: number
  readonly pageItems: readonly T[]
}

const ROOT = '/svc/v1'
const PAGE_SIZE = 500

/** The operations of `/svc` on a server. Throws the server's errors: DiffersError if something is missing or has changed. */
export class SvcClient {
  readonly session: ServerSession
  /** The id of the namespace of the command; empty: the default namespace. */
  readonly namespace: string

  constructor(session: ServerSession, namespace: string) {
    this.session = session
    this.namespace = namespace
  }

  /** The JSON that an operation answers. */
  async get<T>(path: string, params: Params = {}): Promise<T> {
    return (await jsonOf(this.session.url, await this.#asked('GET', withQuery(path, params)))) as T
  }

  /** The bytes that an operation answers. */
  async bytes(path: string, params: Params = {}): Promise<Buffer> {
    return Buffer.from(await (await this.#asked('GET', withQuery(path, params))).arrayBuffer())
  }

  /** All items of a list, page after page. */
  async all<T>(path: string, params: Params = {}): Promise<T[]> {
    const found: T[] = []
    for (let pageNo = 1, pages = 1; pageNo <= pages; pageNo++) {
      const page = await this.get<ListPage<T>>(path, { ...params, pageNo, pageSize: PAGE_SIZE })
      found.push(...page.pageItems)
      pages = page.pagesAvailable
    }
    return found
  }

  /** Like `all`, for a search that ends after a portion: `next` is the place to continue, null at the end. */
  async portion<T>(path: string, params: Params): Promise<{ items: T[]; next: string | null }> {
    const items: T[] = []
    for (let pageNo = 1; ; pageNo++) {
      const page = await this.get<ListPage<T> & { readonly next: string | null }>(path, {
        ...params,
        pageNo,
        pageSize: PAGE_SIZE,
      })
      items.push(...page.pageItems)
      if (pageNo >= page.pagesAvailable) return { items, next: page.next }
    }
  }

  /** Changes something; resolves with the text of the answer. */
  async send(method: 'POST' | 'PUT' | 'DELETE', path: string, form: Params = {}): Promise<string> {
    const isDelete = method === 'DELETE'
    const target = isDelete ? withQuery(path, form) : path
    const response = await this.#asked(method, target, isDelete ? undefined : queryOf(form))
    const trimmed = response.headers.get('Waypost-Trimmed')
    if (trimmed !== null) tell(`Blanks at the ends are left out: ${trimmed}.\n`)
    return response.text()
  }

  /** An answer that does not end; `lastEventId` continues an earlier answer. */
  async stream(path: string, lastEventId: string): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#asked('GET', withQuery(path, lastEventId === '' ? {} : { lastEventId }))
    return response.body!
  }

  async #asked(method: string, path: string, body?: URLSearchParams): Promise<Response> {
    const init = body === undefined ? { method } : { method, body }
    const response = await this.session.fetch(`${ROOT}${path}`, init)
    if (response.ok) return response
    throw problemError(response.status, await response.text())
  }
}

function withQuery(path: string, params: Params): string {
  const query = queryOf(params).toString()
  return query === '' ? path : `${path}?${query}`
}

function queryOf(params: Params): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) if (value !== undefined) query.set(name, String(value))
  return query
}

/** The server cannot read a value of its store. */
export class DamagedError extends Error {}

/** Problems that are an answer: the thing is missing, exists already, or has changed. */
const DIFFERS = /:(?:[a-z-]+-not-found|config-changed)$/

function problemError(status: number, text: string): Error {
  const message = problemOf(status, text)
  const type = /"type":"([^"]*)"/.exec(text)?.[1] ?? ''
  if (type.endsWith(':damaged')) return new DamagedError(message)
  return DIFFERS.test(type) ? new DiffersError(message) : new Error(message)
}

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
  /** The origin of the address, for errors. */
  readonly origin: string
}

/** Whether the flags or variables name a server. */
export function namesServer({ server, url, context }: ServerFlags): boolean {
  return server !== undefined || url !== undefined || context !== undefined
}

/** A host and a port without a scheme, such as `localhost:8848` or `[::1]:8848`. */
const HOST_AND_PORT = /^(?:[\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}(?:\/|$)/

/** The address of a server, without a slash at its end; `localhost:8848` means http. Throws UsageError for another text. */
export function serverUrl(given: string): string {
  const value = HOST_AND_PORT.test(given) ? `http://${given}` : given
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(
      `--server must be an address such as ${DEFAULT_URL}, but is ${JSON.stringify(given)}`,
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
  if (address !== undefined) return byAddress(serverUrl(address), 'from --server')
  if (flags.context !== undefined) return byName(flags.context, 'from --context')
  if (serverOfEnvironment) return byAddress(serverUrl(serverOfEnvironment), 'from WAYPOST_SERVER')
  if (contextOfEnvironment) return byName(contextOfEnvironment, 'from WAYPOST_CONTEXT')
  const { current } = readClientFile()
  if (current !== '') return byName(current, `of the context ${current}, the current one`)
  return byAddress(DEFAULT_URL, 'the default: nothing names another')
}

/** A token goes only to the server that it is for. */
function byAddress(url: string, origin: string): Target {
  const { current, contexts } = readClientFile()
  const fitting = [...contexts].filter(([, { server }]) => server === url)
  const [name, context] = fitting.find(([one]) => one === current) ?? fitting[0] ?? []
  return { url, name, context, origin }
}

function byName(name: string, origin: string): Target {
  const context = readClientFile().contexts.get(name)
  if (context === undefined)
    throw new UsageError(`There is no context ${JSON.stringify(name)}: \`waypost context list\` shows them.`)
  return { url: context.server, name, context, origin }
}

/** The session of a command on its server. */
export function sessionOf(flags: ServerFlags): ServerSession {
  const target = targetOf(flags)
  const { url, origin } = target
  return new ServerSession(url, { username: flags.username, stored: tokenOf(target), origin })
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
