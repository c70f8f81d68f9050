import type { Answer } from '../routing/route.ts'
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ReadyAnswer } from '../routing/answer.ts'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "worker-src 'self'",
  // The name under which our workers are started, and nothing else is.
  'trusted-types waypost-workers',
].join('; ')

/** The headers of every answer under `/ui`: no code but ours, no framing, no address passed on. */
export const PAGE_HEADERS = Object.freeze({
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
})

const YEAR_SECONDS = 31_536_000

type Encoding = 'br' | 'gzip' | 'identity'

/** The answers of one file: whole or "not modified", in the encoding that the browser takes. They are made once. */
export function answersOfFile(file: PageFile): (headers: IncomingHttpHeaders) => Answer {
  const whole = hash('sha256', file.plain, 'hex').slice(0, 24)
  const variants = {
    br: file.br && variantOf(file, 'br', { body: file.br, whole }),
    gzip: file.gzip && variantOf(file, 'gzip', { body: file.gzip, whole }),
    identity: variantOf(file, 'identity', { body: file.plain, whole }),
  }
  return (headers) => {
    const accepted = headers['accept-encoding']
    const variant =
      (takes(accepted, 'br') ? variants.br : undefined) ??
      (takes(accepted, 'gzip') ? variants.gzip : undefined) ??
      variants.identity
    const isKnown = headers['if-none-match']?.split(',').some((tag) => bare(tag) === variant.tag)
    return isKnown === true ? variant.unchanged : variant.found
  }
}

interface EncodedVariant {
  readonly tag: string
  readonly found: Answer
  readonly unchanged: Answer
}

function variantOf(
  { contentType, isHashed }: PageFile,
  encoding: Encoding,
  { body, whole }: { body: Buffer; whole: string },
): EncodedVariant {
  const tag = `"${whole}-${encoding}"`
  const headers = {
    ...PAGE_HEADERS,
    'Cache-Control': isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    ETag: tag,
    Vary: 'Accept-Encoding',
  }
  const encoded = encoding === 'identity' ? headers : { ...headers, 'Content-Encoding': encoding }
  return {
    tag,
    found: new ReadyAnswer({ status: 200, contentType, body, headers: encoded }),
    unchanged: new ReadyAnswer({ status: 304, contentType, body: '', headers }),
  }
}

/** An entity tag without the mark of a weak one, which a proxy that compresses adds. */
function bare(tag: string): string {
  return tag.trim().replace(/^W\//, '')
}

function takes(accepted: string | string[] | undefined, encoding: string): boolean {
  return String(accepted ?? '')
    .split(',')
    .some((one) => {
      const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
      return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    })
}

/** A file of the console, as it was built. */
export interface PageFile {
  /** Its place below `/ui/`; empty for the page itself. */
  readonly path: string
  readonly contentType: string
  readonly plain: Buffer
  /** Compressed when it was built; undefined where that saves nothing. */
  readonly br: Buffer | undefined
  readonly gzip: Buffer | undefined
  /** Its name changes with its content, so a browser may keep it for ever. */
  readonly isHashed: boolean
}

/** The console that the server serves, or why there is none. */
export type ConsoleAssets =
  | { readonly kind: 'built'; readonly files: readonly PageFile[] }
  | { readonly kind: 'missing'; readonly reason: string }
