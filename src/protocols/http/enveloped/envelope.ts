import type { LongText } from '../../../core/text/long-text.ts'
import { afterwards } from '../../../operations/afterwards.ts'
import { javaJson } from '../../answers/java-numbers.ts'
import { jsonBody } from '../../answers/json-content.ts'
import {
  Json,
  answersJson,
  JSON_TYPE,
  jsonAnswer,
  jsonTextAnswer,
  sentJsonAnswer,
} from '../routing/answers.ts'
import type {
  Endpoint,
  ErrorFormat,
  RouteDefaults,
  Answer,
  AnswerSchemas,
  JsonSchema,
} from '../routing/route.ts'
import { Refusal, type RefusalCode } from '../../../core/refusal.ts'
import { REFUSALS } from '../../refusals/refusals.ts'
import { headersOfRefusal } from '../errors/problem.ts'
import { NACOS_CONFIG_RULES, NACOS_NAMING_RULES, Type } from '../../parameters/schema.ts'

/** A number that tools know, and its short text (grpc-compat.md section 7). */
export type EnvelopeCode = readonly [code: number, message: string]

/** Codes that are answered without a refusal. */
export const NOT_FOUND: EnvelopeCode = [20004, 'resource not found']
export const NO_INSTANCE: EnvelopeCode = [21003, 'instance not found']
export const NAMESPACE_EXISTS: EnvelopeCode = [22002, 'namespace already exist']
export const SERVER_ERROR: EnvelopeCode = [30000, 'server error']

const HEAD = `{"code":0,"message":"success","data":`

/** An answer of `/nacos/v2` and `/nacos/v3` with this data (grpc-compat.md section 7). */
export function success(data: unknown): Answer {
  return { ...jsonTextAnswer(''), ...jsonBody(data, HEAD, '}') }
}

/** The same, with doubles as Java writes them. */
export function javaSuccess(data: unknown): Answer {
  return jsonTextAnswer(`${HEAD}${javaJson(data)}}`)
}

/** A 'no' in the same envelope; `status` is 200 where clients read the code alone. */
export function failure(status: number, [code, message]: EnvelopeCode, data: string | null = null): Answer {
  return jsonAnswer({ code, message, data }, status)
}

/** The schema of a success, for the OpenAPI document. */
export function answersEnvelope(data: JsonSchema): AnswerSchemas {
  const schema = { code: Json.integer('0: success.'), message: Json.string(), data: Json.nullable(data) }
  const { title, const: word } = data as { readonly title?: string; readonly const?: string | boolean }
  const name = title ?? word
  return answersJson(
    name === undefined ? Json.object(schema) : Json.named(`${name}InEnvelope`, Json.object(schema)),
  )
}

/** An endpoint of `/nacos/v1` with its answer as the data of an envelope. */
export function enveloped(of: Endpoint): Endpoint {
  const { again: _, answers, ...rest } = of
  const data = answers === undefined ? undefined : Object.values(answers)[0]
  return {
    ...rest,
    ...(data === undefined ? {} : { answers: answersEnvelope(data) }),
    handle: (request) =>
      afterwards(of.handle(request), (answer) => (answer === undefined ? undefined : inEnvelope(answer))),
  }
}

function inEnvelope({ contentType, body, ...rest }: Answer): Answer {
  const headers = rest.headers ?? {}
  if (rest.chunks !== undefined)
    return { ...jsonTextAnswer(''), chunks: around(HEAD, rest.chunks, '}'), kept: rest.kept ?? 0, headers }
  const isJson = contentType.startsWith(JSON_TYPE)
  const json = isJson ? Buffer.from(body) : Buffer.from(JSON.stringify(body.toString('utf8')))
  return { ...successOf(json), headers }
}

async function* around(before: string, chunks: AsyncIterable<Buffer>, after: string): AsyncGenerator<Buffer> {
  yield Buffer.from(before)
  yield* chunks
  yield Buffer.from(after)
}

/** An answer whose data is this text of JSON. */
export function successOf(json: Buffer | LongText): Answer {
  const [head, end] = [Buffer.from(HEAD), Buffer.from('}')]
  if (Buffer.isBuffer(json)) return jsonTextAnswer(Buffer.concat([head, json, end]))
  return sentJsonAnswer({ head: Buffer.concat([head, json.head]), rest: [...json.rest, end] })
}

const PARAMETER_INVALID: EnvelopeCode = [20002, 'parameter validate error']
const ACCESS_DENIED: EnvelopeCode = [10001, 'access denied']
const CONFLICT: EnvelopeCode = [20005, 'resource conflict']

/** Refusals that have a number of their own. */
const OWN: Partial<Record<RefusalCode, EnvelopeCode>> = {
  'missing-parameter': [10000, 'parameter missing'],
  'gray-too-many': [20010, 'gray config version is over max count'],
  'gray-rule': [20011, 'gray config rule format invalid'],
  'instance-not-found': NO_INSTANCE,
  'service-exists': [21007, 'service already exist'],
  'service-not-found': [21008, 'service not exist'],
  'namespace-not-found': [22001, 'namespace not exist'],
}

/** The code of a refusal of this status without a number of its own. */
function usual(status: number): EnvelopeCode {
  if (status === 403) return ACCESS_DENIED
  if (status === 404) return NOT_FOUND
  if (status === 409) return CONFLICT
  return status < 500 ? PARAMETER_INVALID : SERVER_ERROR
}

/** Errors of `/nacos/v2` and `/nacos/v3`: `{code, message, data}`, where `data` says what was wrong. */
export const envelopedErrors: ErrorFormat = (error, { method, path, requestId }) => {
  if (!(error instanceof Refusal))
    return failure(500, SERVER_ERROR, `A fault of this server: see its log for request ${requestId}.`)
  const status = REFUSALS[error.code].http
  const code = OWN[error.code] ?? usual(status)
  if (error.code !== 'unknown-path') return withHeaders(failure(status, code, error.message), error)
  const data = `This server has no ${method} ${path}. docs/compatibility.md lists what it has; /nacos/v1 has the rest.`
  return failure(status, code, data)
}

function withHeaders(answer: Answer, refusal: Refusal): Answer {
  return { ...answer, headers: headersOfRefusal(refusal) }
}

/** How the configuration part and the rest of `/nacos/v2` and `/nacos/v3` read parameters and answer errors. */
export const CONFIG_PART: RouteDefaults = Object.freeze({
  rules: NACOS_CONFIG_RULES,
  errors: envelopedErrors,
})
/** The same for naming. */
export const NAMING_PART: RouteDefaults = Object.freeze({
  rules: NACOS_NAMING_RULES,
  errors: envelopedErrors,
})

/** An endpoint with other parameter names in a dialect: `names` maps the endpoint's names to the dialect's. */
export function renamed(of: Endpoint, names: Readonly<Record<string, string>>): Endpoint {
  const own = new Map(Object.entries(names).map(([name, theirs]) => [theirs, name]))
  return {
    ...of,
    params: Type.Object(withNames(of.params.properties, (name) => names[name] ?? name)),
    handle: (request) => {
      const { caller, rawBody, target } = request
      const params = withNames(request.params, (name) => own.get(name) ?? name)
      return of.handle({ params, caller, rawBody, target, hold: () => request.hold() })
    },
  }
}

function withNames<T>(
  values: Readonly<Record<string, T>>,
  nameOf: (name: string) => string,
): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [nameOf(name), value]))
}
