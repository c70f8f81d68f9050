import http from 'node:http'

/** An answer, or why there is none: `refused` if the server cannot have got the request, else `lost`. */
export type Reply =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'refused' | 'lost' }

/** A request. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | number>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly limitMs?: number
}

/** How long a client waits for an answer. A change is answered after 2 s, so longer means that the server does not work. */
const LIMIT_MS = 6_000

const agent = new http.Agent({ keepAlive: true, maxSockets: 500 })

/** Sends one request. It never rejects. */
export function ask(
  url: string,
  { method, path, query = {}, headers = {}, body = '', limitMs = LIMIT_MS }: Request,
): Promise<Reply> {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) params.set(name, String(value))
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(limitMs)
    const sent = http.request(`${url}${path}?${params}`, { method, agent, headers, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('error', () => resolve({ kind: 'lost' }))
      response.on('end', () => resolve({ kind: 'answered', status: response.statusCode ?? 0, text }))
    })
    sent.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ kind: error.code === 'ECONNREFUSED' ? 'refused' : 'lost' }),
    )
    sent.end(body)
  })
}
