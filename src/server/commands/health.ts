import http from 'node:http'
import https from 'node:https'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { loadSettings, type Settings } from '../../settings/settings.ts'
import { type CommandResult, DiffersError, EXIT, messageOf, UsageError } from '../../command/command-line.ts'

/** The flags of `waypost health`. */
export interface HealthFlags {
  readonly settings?: string
  readonly port?: string
  readonly ready?: boolean
}

/** No server that works takes so long to answer. */
const ANSWER_LIMIT_MS = 3_000
/** Listening addresses that mean all addresses, each with an address to ask. */
const LOOPBACK: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
  ['[::]', '::1'],
  ['', '127.0.0.1'],
])

/**
 * Asks the local server with these settings whether it answers; with `ready`, whether it takes requests. Throws
 * DiffersError.
 */
export async function health({ settings: file, port, ready = false }: HealthFlags): Promise<CommandResult> {
  const flags = port === undefined ? {} : { port }
  const url = ownUrl(loadSettings({ flags, ...(file === undefined ? {} : { file }), env: process.env }))
  const { status, body } = await answerOf(new URL(ready ? '/readyz' : '/healthz', url))
  if (status !== 200) throw new DiffersError(`${url.origin} answers ${status}: ${body}`)
  return { code: EXIT.done, text: `${url.origin} ${ready ? 'is ready' : 'answers'}\n` }
}

function ownUrl({ host, port, tlsCert }: Settings): URL {
  if (port === 0) throw new UsageError('The server has a free port (port=0): give it with --port')
  const address = LOOPBACK.get(host) ?? host
  const authority = address.includes(':') ? `[${address.replaceAll(/[[\]]/g, '')}]` : address
  return new URL(`${tlsCert === '' ? 'http' : 'https'}://${authority}:${port}`)
}

async function answerOf(url: URL): Promise<{ status: number; body: string }> {
  // The certificate is for the name by which clients know the server, and nothing secret is sent.
  const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }
  const request = url.protocol === 'https:' ? https.get(url, options) : http.get(url, options)
  try {
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    return { status: response.statusCode!, body: await text(response) }
  } catch (error) {
    throw new DiffersError(`${url.origin} does not answer: ${messageOf(error)}`)
  }
}
