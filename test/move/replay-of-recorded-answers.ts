import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An answer of a Java server in test/recorded. */
interface RecordedAnswer {
  readonly request: string
  readonly form?: Readonly<Record<string, unknown>>
  readonly headers?: object
  readonly status: number
  readonly answerHeaders?: Readonly<Record<string, string>>
  readonly contentType?: string
  readonly body: string
}

/** The versions whose answers are recorded. */
export type RecordedVersion = '1.4.8' | '2.5.1' | '3.0.3-admin' | '3.0.3-clusters'

/** The parameters that distinguish two calls of the same path; other parameters are about the page, or are the default. */
const TELLING = [
  'dataId',
  'group',
  'groupName',
  'serviceName',
  'clusterName',
  'nid',
  'show',
  'beta',
  'withInstances',
  'configDetail',
  'serviceNameParam',
  'selector',
]
/** Lists answer all, where the recorded call named one. */
const NAMES = ['dataId', 'group', 'groupName']
const LISTS = /\/(?:configs\?.*search=|config\/list\?)/
const NONE: Readonly<Record<string, string>> = {
  '/nacos/v1/cs/configs': '{"totalCount":0,"pageNumber":1,"pagesAvailable":0,"pageItems":[]}',
  '/nacos/v1/ns/catalog/services': '{"serviceList":[],"count":0}',
  '/nacos/v1/ns/catalog/instances': '{"list":[],"count":0}',
  '/nacos/v3/admin/cs/config/list': '{"code":0,"data":{"totalCount":0,"pageItems":[]}}',
  '/nacos/v3/admin/ns/service/list': '{"code":0,"data":{"totalCount":0,"pageItems":[]}}',
}

/** The answer of 3.x about a thing that is not there. */
const NULL = '{"code":0,"data":null}'

/** An answer that a test wants. */
interface OtherAnswer {
  readonly status: number
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** `half`: the connection is closed in the middle; `slowly`: byte by byte; `endlessly`: again and again; `never`: nothing follows. */
  readonly sent?: 'half' | 'slowly' | 'endlessly' | 'never'
}

const ENDLESS_PIECE_BYTES = 1_048_576

function send(response: ServerResponse, body: string | Buffer, how: OtherAnswer['sent']): void {
  const bytes = Buffer.from(body)
  if (how === undefined) response.end(bytes)
  else if (how === 'half') response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
  else if (how === 'never') response.flushHeaders()
  else if (how === 'endlessly') {
    const piece = Buffer.alloc(ENDLESS_PIECE_BYTES, bytes)
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
      response.once('drain', more)
    }
    more()
  } else {
    let at = 0
    const next = (): void => {
      if (at === bytes.length) response.end()
      else response.write(bytes.subarray(at, ++at), () => setImmediate(next))
    }
    next()
  }
}

/**
 * This is no Java server: it only replays what one has answered when it was recorded. It answers with the last recorded
 * answer to a GET of the same path and names. Lists of a namespace that has none are empty; whatever else was not recorded is a 404.
 */
export class ReplayOfRecordedAnswers {
  /** The calls that it got, and whether it had an answer. */
  readonly calls: { readonly call: string; readonly status: number; readonly token: string }[] = []
  /** Answers instead of the recorded ones, by a part of the call; undefined: none. */
  readonly instead = new Map<string, (call: string, body: string) => OtherAnswer | undefined>()
  /** The forms of writes that it has acknowledged, as it did when it was recorded. Without `takesWrites` it knows none. */
  readonly written: { readonly call: string; readonly form: Readonly<Record<string, string>> }[] = []
  takesWrites = false
  /** Whether a call with this token is answered with 403. */
  refuses: (token: string) => boolean = () => false
  /** How far its clock is ahead, ms. */
  clockAheadMs = 0
  readonly #answers: readonly RecordedAnswer[]
  readonly #writes: readonly RecordedAnswer[]
  readonly #server: Server

  private constructor(answers: readonly RecordedAnswer[]) {
    this.#answers = answers.filter(({ request }) => request.startsWith('GET '))
    this.#writes = answers.filter(({ form }) => form !== undefined)
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const call = decodeURIComponent(request.url!)
        const token = String(request.headers['accesstoken'] ?? '')
        const found =
          token !== '' && this.refuses(token)
            ? { status: 403, body: 'token expired!' }
            : this.takesWrites && request.method !== 'GET'
              ? this.#answerToWrite(`${request.method} ${call}`, Buffer.concat(chunks).toString())
              : this.#answerTo(request.url!, call, Buffer.concat(chunks).toString())
        const { status = 404, body = '{"status":404,"error":"not recorded"}' } = found ?? {}
        this.calls.push({ call, status, token })
        response.setHeader('date', new Date(Date.now() + this.clockAheadMs).toUTCString())
        response.writeHead(status, found?.headers ?? {})
        send(response, body, found?.sent)
      })
    })
  }

  static async start(version: RecordedVersion): Promise<ReplayOfRecordedAnswers> {
    const file = new URL(`../recorded/java-${version}.json`, import.meta.url)
    const { http } = JSON.parse(readFileSync(file, 'utf8')) as { http: readonly RecordedAnswer[] }
    const replay = new ReplayOfRecordedAnswers(http)
    await new Promise<void>((done) => replay.#server.listen(0, '127.0.0.1', done))
    return replay
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/nacos`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  /** A write that has what all recorded ones had that were taken is taken; one that lacks something is refused as those were. */
  #answerToWrite(call: string, body: string): OtherAnswer | undefined {
    const other = this.#insteadOf(call, body)
    if (other !== undefined) return other
    const form = Object.fromEntries(new URLSearchParams(body))
    const all = this.#writes.filter(({ request }) => request === call)
    const taken = all.filter(({ status }) => status === 200)
    const refused = all.find(({ status }) => status === 400)
    if (taken.length === 0) return undefined
    const needed = Object.keys(taken[0]!.form!).filter((name) => taken.every((one) => name in one.form!))
    const isWhole = needed.every((name) => name in form)
    if (isWhole) this.written.push({ call, form })
    const { status, body: text } = isWhole ? taken[0]! : (refused ?? { status: 400, body: '{"code":10000}' })
    return { status, body: text }
  }

  #insteadOf(call: string, sent: string): OtherAnswer | undefined {
    for (const [part, answer] of this.instead) {
      const other = call.includes(part) ? answer(call, sent) : undefined
      if (other !== undefined) return other
    }
    return undefined
  }

  #answerTo(url: string, call: string, sent: string): OtherAnswer | undefined {
    const other = this.#insteadOf(call, sent)
    if (other !== undefined) return other
    const asked = new URL(url, 'http://replay')
    const space = asked.searchParams.get('tenant') ?? asked.searchParams.get('namespaceId') ?? ''
    if (space !== '' && space !== 'public' && !asked.searchParams.has('show'))
      return { status: 200, body: NONE[asked.pathname] ?? (asked.pathname.includes('/v3/') ? NULL : '{}') }
    const fitting = this.#answers.filter(
      ({ request, headers }) => headers === undefined && fits(asked, request),
    )
    const found = fitting.at(-1)
    if (found === undefined) return undefined
    const {
      'set-cookie': _cookie,
      'content-length': _length,
      date: _date,
      ...headers
    } = found.answerHeaders ?? {}
    return { status: found.status, body: found.body, headers }
  }
}

function fits(asked: URL, request: string): boolean {
  const recorded = new URL(request.slice('GET '.length), 'http://replay')
  if (recorded.pathname !== asked.pathname) return false
  const isList = LISTS.test(asked.href)
  if (isList !== LISTS.test(recorded.href)) return false
  return TELLING.every((name) => {
    const wanted = plain(asked.searchParams.get(name))
    const given = plain(recorded.searchParams.get(name))
    return wanted === given || (isList && wanted === '' && NAMES.includes(name))
  })
}

/** The recorded calls leave out what is the default. */
function plain(value: string | null): string {
  return (value ?? '').replace(/^DEFAULT_GROUP@@|^DEFAULT$|^false$/, '')
}
