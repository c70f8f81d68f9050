import { ServerSession } from '../client/server-session.ts'
import { namespaceOf, type NamespaceFlags, targetOf, tokenOf } from '../client/session-of-flags.ts'

/** The answer to an import: which items were published, skipped or refused (docs/compatibility.md). */
export interface ImportAnswer {
  readonly succCount?: number
  readonly skipCount?: number
  readonly failData?: readonly NamedItem[]
  readonly skipData?: readonly NamedItem[]
  readonly unrecognizedData?: readonly { readonly itemName: string }[]
  /** What is wrong with the metadata, where a Waypost server refuses it. */
  readonly reason?: string
}

/** An item in an answer. */
export interface NamedItem {
  readonly dataId: string
  readonly group: string
}

/** Under `/nacos`, so that other servers answer too. */
const CONFIGS = '/nacos/v1/cs/configs'

/** The server of a transfer, and the namespace. */
export function transferClientOf(flags: NamespaceFlags): { session: ServerSession; namespace: string } {
  const target = targetOf(flags)
  // The context of a Waypost server has a token of it; another server signs in where Nacos does.
  const session = new ServerSession(target.url, {
    username: flags.username,
    stored: tokenOf(target),
    root: '/nacos/v1',
  })
  return { session, namespace: namespaceOf(flags, target) }
}

/** Starts an export. `query` is added to the parameters that make it one. */
export async function openExport(
  session: ServerSession,
  query: Readonly<Record<string, string>>,
): Promise<Response> {
  const search = new URLSearchParams({ exportV2: 'true', ids: '', ...query })
  const response = await session.fetch(`${CONFIGS}?${search}`)
  const type = response.headers.get('content-type') ?? ''
  if (response.status === 200 && type.startsWith('application/octet-stream')) return response
  throw new Error(
    `${session.url} answers no export: ${response.status} ${(await response.text()).slice(0, 300)}`,
  )
}

/** Uploads one zip. Rejects with the reason if the server does not import all of it. */
export async function uploadZip(
  session: ServerSession,
  query: Readonly<Record<string, string>>,
  zip: readonly Buffer[],
): Promise<ImportAnswer> {
  const form = new FormData()
  form.set('file', new Blob([Buffer.concat(zip)], { type: 'application/zip' }), 'configs.zip')
  const search = new URLSearchParams({ import: 'true', ...query })
  const response = await session.fetch(`${CONFIGS}?${search}`, { method: 'POST', body: form })
  const text = await response.text()
  const answer = parseAnswer(text)
  if (response.status === 200 && answer?.code === 200) return answer.data ?? {}
  const why = answer?.data?.reason ?? answer?.message ?? text.slice(0, 300)
  throw new Error(`${session.url} did not import: ${response.status} ${why}`)
}

/** The ids of the namespaces of a server. The default one is the empty string. */
export async function namespacesOf(session: ServerSession): Promise<string[]> {
  const response = await session.fetch('/nacos/v1/console/namespaces')
  const answer = (await response.json()) as { data?: readonly { namespace: string }[] }
  if (!Array.isArray(answer.data)) throw new Error(`${session.url} lists no namespaces: ${response.status}`)
  return (answer.data as readonly { namespace: string }[]).map(({ namespace }) => namespace)
}

/** Rejects for a server that is not Waypost: it would ignore `dryRun` and import. */
export async function checkDryRun(url: string): Promise<void> {
  const response = await fetch(`${url}/openapi.json`)
  const document = parseJson(await response.text()) as { info?: { title?: string } } | undefined
  if (document?.info?.title !== 'Waypost')
    throw new Error(`${url} is no Waypost server: a dry run would import there, so nothing was sent`)
}

function parseAnswer(text: string): { code?: number; message?: string; data?: ImportAnswer } | undefined {
  const json = parseJson(text)
  return typeof json === 'object' && json !== null ? json : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
