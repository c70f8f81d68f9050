/** A plain HTTP client for each dialect, and one server for each test file of the interface. */
import { createHash, randomUUID } from 'node:crypto'
import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import { afterAll, beforeAll } from 'vitest'
import { startWaypost } from '../support/waypost.ts'

/** A decoded answer. The tests check its shape. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

/** Request parameters by name; an undefined value is left out. */
export type Params = Record<string, string | number | boolean | undefined>

/** One answer: the body as bytes and as text, and `json()` for an answer in JSON. */
export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  text: string
  json(): Json
}

/** The parts of a request. `query` is encoded or, as a string, sent as it is. `form` and `body` exclude each other. */
export interface Call {
  query?: Params | string | undefined
  form?: Params | undefined
  body?: string | Buffer
  headers?: Record<string, string | number>
  localAddress?: string
}

/** The running server under test, as test/support gives it. */
export type Waypost = Awaited<ReturnType<typeof startWaypost>>

type StartOptions = Parameters<typeof startWaypost>[0]

/** The dialects of version 1. Most rules hold in both: such a test has a row for each. */
export const DIALECTS = ['svc', 'nacos'] as const

export type Dialect = (typeof DIALECTS)[number]

/** A client of one dialect: paths are relative to its prefix, such as `/cs/configs` under `/svc/v1`. */
export class Client {
  #base: string
  #agent: http.Agent

  /** `tls`: the authorities to trust, and a certificate to show. */
  constructor(base: string, tls: https.AgentOptions = {}) {
    this.#base = base
    const Agent = base.startsWith('https:') ? https.Agent : http.Agent
    this.#agent = new Agent({ keepAlive: true, maxSockets: 200, ...tls })
  }

  get(path: string, query?: Params | string, headers?: Record<string, string>): Promise<Reply> {
    return this.call('GET', path, { query, ...(headers && { headers }) })
  }

  post(path: string, form?: Params, headers?: Record<string, string>): Promise<Reply> {
    return this.call('POST', path, { form, ...(headers && { headers }) })
  }

  put(path: string, query?: Params | string, headers?: Record<string, string>): Promise<Reply> {
    return this.call('PUT', path, { query, ...(headers && { headers }) })
  }

  delete(path: string, query?: Params, headers?: Record<string, string>): Promise<Reply> {
    return this.call('DELETE', path, { query, ...(headers && { headers }) })
  }

  call(method: string, path: string, call: Call = {}): Promise<Reply> {
    const query = typeof call.query === 'string' ? call.query : encodeParams(call.query ?? {})
    const body = call.form ? encodeParams(call.form) : (call.body ?? '')
    const headers: Record<string, string | number> = { ...call.headers }
    if (call.form) headers['content-type'] ??= 'application/x-www-form-urlencoded'
    if (body.length > 0) headers['content-length'] = Buffer.byteLength(body)
    const url = `${this.#base}${path}${query ? `?${query}` : ''}`
    const source = call.localAddress
      ? { localAddress: call.localAddress, agent: false as const }
      : { agent: this.#agent }
    return new Promise((resolve, reject) => {
      const { request } = url.startsWith('https:') ? https : http
      const outgoing = request(url, { method, headers, ...source }, (incoming) => {
        const chunks: Buffer[] = []
        const settle = () => resolve(toReply(incoming.statusCode ?? 0, incoming.headers, chunks))
        incoming.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          if (isEndless(incoming)) {
            settle()
            incoming.destroy()
          }
        })
        incoming.on('error', reject)
        incoming.on('end', settle)
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Of an answer that does not end, the first piece counts. */
function isEndless({ headers }: http.IncomingMessage): boolean {
  return headers['content-type'] === 'text/event-stream'
}

/** Clients of both dialects of a server. */
export function clientsOf(url: string): { svc: Client; nacos: Client } {
  return { svc: new Client(`${url}/svc/v1`), nacos: new Client(`${url}/nacos/v1`) }
}

/** The one server of a test file, started before its tests and stopped after them. */
export interface Examined {
  server: Waypost
  svc: Client
  nacos: Client
}

/** Starts a server for the tests of the calling file; the fields are filled when the tests run. */
export function serverForThisFile(options?: StartOptions): Examined {
  const examined = {} as Examined
  beforeAll(async () => {
    examined.server = await startWaypost(options)
    Object.assign(examined, clientsOf(examined.server.url))
  })
  afterAll(async () => {
    examined.svc?.close()
    examined.nacos?.close()
    await examined.server?.stop()
  })
  return examined
}

/** A name that no other test uses, allowed wherever the interface takes a name. */
export function unique(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`
}

/** 32 lower-case hex digits of the UTF-8 bytes. */
export function md5(content: string | Buffer): string {
  return createHash('md5').update(content).digest('hex')
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Retries until `holds` is true for the answer, and returns that answer. A failure shows the last one. */
export async function until<T>(
  ask: () => Promise<T>,
  holds: (answer: T) => boolean,
  withinMs = 30_000,
): Promise<T> {
  const end = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (Date.now() > end)
      throw new Error(`not so within ${withinMs} ms; the last answer was ${JSON.stringify(answer)}`)
    await sleep(40)
  }
}

/** The hosts in the list of a service. */
export async function hostsOf(client: Client, query: Params): Promise<Json[]> {
  return (await client.get('/ns/instance/list', query)).json().hosts
}

function encodeParams(params: Params): string {
  return Object.entries(params)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&')
}

function toReply(status: number, headers: IncomingHttpHeaders, chunks: Buffer[]): Reply {
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString('utf8')
  return { status, headers, bytes, text, json: () => JSON.parse(text) }
}
