import { problemIn, RequestError } from './problem.ts'

/** The data of a request. */
export interface RequestInput {
  readonly query?: Params
  readonly form?: Params
  /** A form with files. */
  readonly upload?: FormData
  /** A body of JSON. */
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether it is for whoever is signed in, or for nobody: otherwise it is meant for the user of the page. */
  readonly isForAnybody?: boolean
}

/** The user of the page; empty where nobody has to sign in or nobody has signed in. */
let pageUser = ''
let onOther: (() => void) | undefined

/** Says for whom requests are meant from now on. All pages of a browser have one cookie, and it may be another user's. */
export function meanUser(username: string): void {
  pageUser = username
}

/** Called when the browser is signed in as another user than the user of the page. */
export function onOtherUser(handler: () => void): void {
  onOther = handler
}

/** The parameter by which an address that the browser asks for itself is meant for the user of the page. */
export const forUser = (): Params => ({ forUser: pageUser === '' ? undefined : pageUser })

/** Parameters; undefined values are left out. */
export type Params = Readonly<Record<string, string | number | boolean | undefined>>

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Called when the server wants to know who asks: resolves once somebody has signed in, and the request is sent again. */
type SignInAgain = () => Promise<void>

let signInAgain: SignInAgain | undefined

/** Says who asks people to sign in. */
export function onSignedOut(handler: SignInAgain): void {
  signInAgain = handler
}

const SIGNED_OUT = new Set(['not-signed-in', 'unknown-user', 'token-expired', 'token-invalid'])

/** Asks the server; the text of its answer. Rejects with RequestError. */
export async function requestText(method: Method, path: string, sent: RequestInput = {}): Promise<string> {
  return (await answerOf(method, path, sent)).text
}

/** The same for an answer that is collected from all servers: with the servers that have not replied. */
export async function requestCollected<T>(
  method: Method,
  path: string,
  sent: RequestInput = {},
): Promise<T & { readonly missingServers: readonly string[] }> {
  const { text, missing } = await answerOf(method, path, sent)
  return { ...(JSON.parse(text) as T), missingServers: missing === null ? [] : missing.split(',') }
}

/** A file that the server answers. */
export interface Download {
  readonly blob: Blob
  readonly name: string
  /** How many gray versions of its items it lacks. */
  readonly grayLeftOut: number
}

/** Asks the server for a file. Rejects with RequestError. */
export async function requestFile(method: Method, path: string, sent: RequestInput = {}): Promise<Download> {
  const { file } = await answerOf(method, path, sent)
  if (file === undefined) throw new Error(`${path} answers no file`)
  return file
}

async function answerOf(method: Method, path: string, sent: RequestInput): Promise<Answer> {
  for (;;) {
    const answer = await send(method, path, sent)
    const { status, text } = answer
    if (status >= 200 && status < 300) return answer
    const problem = problemIn(status, text)
    if (problem.code === 'other-user') onOther?.()
    if (!SIGNED_OUT.has(problem.code) || signInAgain === undefined) throw new RequestError(problem)
    await signInAgain()
  }
}

/** Asks the server; the JSON of its answer. Rejects with RequestError. */
export async function request<T>(method: Method, path: string, sent: RequestInput = {}): Promise<T> {
  return JSON.parse(await requestText(method, path, sent)) as T
}

/** The same without asking anybody to sign in. */
export async function requestOnce<T>(method: Method, path: string, sent: RequestInput = {}): Promise<T> {
  const { status, text } = await send(method, path, sent)
  if (status < 200 || status >= 300) throw new RequestError(problemIn(status, text))
  return JSON.parse(text) as T
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly missing: string | null
  readonly file?: Download
}

async function send(
  method: Method,
  path: string,
  { query = {}, form, upload, json, headers: more = {}, isForAnybody = false }: RequestInput,
): Promise<Answer> {
  const meant = isForAnybody || pageUser === '' ? {} : { 'Waypost-User': encodeURIComponent(pageUser) }
  const headers: Record<string, string> = { ...more, ...meant }
  const answer = await fetch(addressFor(path, query), {
    method,
    headers: json === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    cache: 'no-store',
    credentials: 'same-origin',
    ...(form === undefined ? {} : { body: textOf(form) }),
    ...(upload === undefined ? {} : { body: upload }),
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  const missing = answer.headers.get('Waypost-Missing-Servers')
  if (answer.headers.get('content-type') === 'application/octet-stream')
    return { status: answer.status, text: '', missing, file: await downloadOf(answer) }
  return { status: answer.status, text: await answer.text(), missing }
}

async function downloadOf(answer: Response): Promise<Download> {
  const [, name = 'configs.zip'] =
    /filename=(.+)$/.exec(answer.headers.get('content-disposition') ?? '') ?? []
  const grayLeftOut = Number(answer.headers.get('waypost-gray-left-out') ?? 0)
  return { blob: await answer.blob(), name, grayLeftOut }
}

/** The address of an operation: relative to the page, which is at `…/ui/`. */
export function addressFor(path: string, query: Params): string {
  const text = textOf(query).toString()
  return `../${path}${text === '' ? '' : `?${text}`}`
}

function textOf(params: Params): URLSearchParams {
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
}
