import { jsonOf, reach } from '../no-answer.ts'
import { problemOf, ServerSession } from '../server-session.ts'
import { namespaceOf, type NamespaceFlags, type Target, targetOf, tokenOf } from '../session-of-flags.ts'

/** The answer to an import: which items were published, skipped or refused (docs/compatibility.md). */
export interface ImportAnswer {
  readonly succCount?: number
  readonly skipCount?: number
  readonly succData?: readonly AheadItem[]
  readonly failData?: readonly NamedItem[]
  readonly skipData?: readonly NamedItem[]
  readonly unrecognizedData?: readonly { readonly itemName: string }[]
  readonly unknownTypeData?: readonly UnknownType[]
  /** The fault in the metadata that a Waypost server refuses. */
  readonly reason?: string
}

/** An item in an answer. */
export interface NamedItem {
  readonly dataId: string
  readonly group: string
}

/** An item whose metadata have a type that the server does not know. */
export interface UnknownType extends NamedItem {
  readonly type: string
}

/** An item that a dry run would publish. */
export interface AheadItem extends NamedItem {
  readonly change?: 'new' | 'changed' | 'equal' | 'unknown'
  readonly watcherCount?: number
}

/** The interface that a transfer uses: other servers have that under `/nacos` only. */
export type TransferRoot = '/svc/v1' | '/nacos/v1'

/** The server of a transfer. */
export class TransferClient {
  readonly url: string
  readonly namespace: string
  readonly #session: ServerSession
  readonly #root: TransferRoot

  constructor(flags: NamespaceFlags, root: TransferRoot) {
    const target = targetOf(flags)
    this.url = target.url
    this.namespace = namespaceOf(flags, target)
    this.#root = root
    this.#session = new ServerSession(target.url, {
      origin: target.origin,
      username: flags.username,
      stored: tokenOf(target),
      root,
    })
  }

  /** Starts an export. `query` is added to the parameters of an export. */
  async openExport(query: Readonly<Record<string, string>>): Promise<Response> {
    const search = new URLSearchParams({ exportV2: 'true', ids: '', ...query })
    const response = await this.#session.fetch(`${this.#root}/cs/configs?${search}`)
    const type = response.headers.get('content-type') ?? ''
    if (response.status === 200 && type.startsWith('application/octet-stream')) return response
    throw new Error(`${this.url} answers no export: ${problemOf(response.status, await response.text())}`)
  }

  /** Uploads one zip. Rejects with the reason if the server does not import everything. */
  async upload(query: Readonly<Record<string, string>>, zip: readonly Buffer[]): Promise<ImportAnswer> {
    const form = new FormData()
    form.set('file', new Blob([Buffer.concat(zip)], { type: 'application/zip' }), 'configs.zip')
    const search = new URLSearchParams({ import: 'true', ...query })
    const init = { method: 'POST', body: form }
    const response = await this.#session.fetch(`${this.#root}/cs/configs?${search}`, init)
    const text = await response.text()
    const answer = parseAnswer(text)
    if (response.status === 200 && answer.data !== undefined) return answer.data
    if (answer.unrecognized !== undefined) return answer.unrecognized
    throw new Error(`${this.url} did not import: ${answer.why ?? problemOf(response.status, text)}`)
  }

  /** The ids of the namespaces of the server. The default one is the empty string. */
  async namespaces(): Promise<string[]> {
    const response = await this.#session.fetch(`${this.#root}/console/namespaces`)
    const { data } = (await jsonOf(this.url, response)) as { data?: readonly { namespace: string }[] }
    if (!Array.isArray(data)) throw new Error(`${this.url} lists no namespaces: ${response.status}`)
    return (data as readonly { namespace: string }[]).map(({ namespace }) => namespace)
  }
}

/** Whether a server is Waypost. */
export async function isWaypost({ url, origin }: Pick<Target, 'url' | 'origin'>): Promise<boolean> {
  const response = await reach(url, '/openapi.json', { origin })
  const document = parseJson(await response.text()) as { info?: { title?: string } } | undefined
  return document?.info?.title === 'Waypost'
}

/** Under `/nacos` the outcome is in an envelope with a code; under `/svc` it is the answer, and an error has a `detail`. */
function parseAnswer(text: string): {
  readonly data?: ImportAnswer
  /** No item of the part has names that the server takes. */
  readonly unrecognized?: ImportAnswer
  readonly why?: string
} {
  const answer = parseJson(text)
  if (typeof answer !== 'object' || answer === null) return {}
  const { code, data, message, detail } = answer as {
    code?: number
    data?: ImportAnswer | null
    message?: string
    detail?: string
  }
  const outcome = 'succCount' in answer ? (answer as ImportAnswer) : data
  const isRefused = code === NO_DATA || detail !== undefined
  if (isRefused && isUnrecognized(outcome)) return { unrecognized: outcome }
  if ('succCount' in answer) return { data: answer as ImportAnswer }
  if (code === 200) return { data: data ?? {} }
  const why = data?.reason ?? detail ?? message
  return why === undefined ? {} : { why }
}

/** The code of `/nacos` for a file without an item. */
const NO_DATA = 100005

function isUnrecognized(outcome: ImportAnswer | null | undefined): outcome is ImportAnswer {
  const { succCount, skipData = [], failData = [], unrecognizedData = [] } = outcome ?? {}
  return succCount === 0 && skipData.length + failData.length === 0 && unrecognizedData.length > 0
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
