import { DiffersError } from '../command-line.ts'
import { jsonOf } from './no-answer.ts'
import { problemOf, type ServerSession } from './server-session.ts'

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

/** Problems that are an answer: the thing is missing, exists already, or has changed. */
const DIFFERS = /:(?:[a-z-]+-not-found|config-changed)$/

function problemError(status: number, text: string): Error {
  const message = problemOf(status, text)
  const type = /"type":"([^"]*)"/.exec(text)?.[1] ?? ''
  return DIFFERS.test(type) ? new DiffersError(message) : new Error(message)
}
