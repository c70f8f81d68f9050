import { ownAgent } from '../command/version.ts'

/** Why a server cannot be reached, by the codes of Node.js, with advice. */
const REASONS: readonly (readonly [code: RegExp, reason: string])[] = [
  [
    /^ECONNREFUSED$/,
    'nothing listens there. Start the server, or name another one by --server or --context.',
  ],
  [/^(?:ENOTFOUND|EAI_\w+)$/, 'its name has no address. Check the name.'],
  [
    /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w*TIMEOUT)$/,
    'it does not answer. Check the address, and the network.',
  ],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'it closed the connection. Does it expect https?'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another name. Use that one in the address.'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired.'],
  [
    /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/,
    'its certificate is from an authority that this program does not know. NODE_EXTRA_CA_CERTS=/path/ca.pem names one.',
  ],
  [/^(?:ERR_SSL_|EPROTO)/, 'it does not speak TLS. Is its address one with http?'],
]

/** A request got no answer. It is a TypeError, as the error of `fetch` is. */
class NoAnswerError extends TypeError {}

/**
 * The error for a request without an answer, as a sentence with advice. Other errors stay. `origin` says who has named the
 * address, such as `from --server`.
 */
export function noAnswer(url: string, error: unknown, origin = ''): unknown {
  if (error instanceof NoAnswerError) return error
  if (!(error instanceof Error) || error.name === 'AbortError' || error.name === 'TimeoutError') return error
  const cause = (error.cause instanceof Error ? error.cause : error) as NodeJS.ErrnoException
  const reason = REASONS.find(([code]) => code.test(cause.code ?? ''))?.[1]
  const text = reason ?? `${cause.message || cause.code || 'no answer'}.`
  const server = origin === '' ? url : `${url} (${origin})`
  return new NoAnswerError(`The server at ${server} cannot be reached: ${text}`, { cause: error })
}

/** Like `fetch`, for the server of a command. Rejects with an Error that explains a missing answer. */
export async function reach(
  url: string,
  path: string,
  { origin, ...init }: RequestInit & { readonly origin?: string } = {},
): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('User-Agent', ownAgent())
  return fetch(`${url}${path}`, { ...init, headers }).catch((error: unknown) => {
    throw noAnswer(url, error, origin)
  })
}

/** The JSON of an answer. Rejects with an Error for another text, which another program has sent. */
export async function jsonOf(url: string, response: Response): Promise<unknown> {
  return jsonIn(url, await response.text())
}

/** Like `jsonOf`, for a text that was read already. */
export function jsonIn(url: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(
      `What answers at ${url} is no Waypost server, or not this version of it: ${JSON.stringify(text.slice(0, 80))}. Check the address.`,
      { cause },
    )
  }
}
