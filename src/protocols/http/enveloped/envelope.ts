import type { LongText } from '../../../core/text/long-text.ts'
import { afterwards } from '../../../operations/afterwards.ts'
import { javaJson } from '../../answers/java-numbers.ts'
import { Json, type AnswerSchemas, answersJson, type JsonSchema } from '../routing/answer-schema.ts'
import { JSON_TYPE, jsonAnswer, jsonTextAnswer, sentJsonAnswer } from '../routing/answers.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import type { Answer } from '../routing/answer.ts'

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
  return jsonTextAnswer(`${HEAD}${JSON.stringify(data)}}`)
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
  const isJson = contentType.startsWith(JSON_TYPE)
  const json = isJson ? Buffer.from(body) : Buffer.from(JSON.stringify(body.toString('utf8')))
  return { ...successOf(json), headers: rest.headers ?? {} }
}

/** An answer whose data is this text of JSON. */
export function successOf(json: Buffer | LongText): Answer {
  const [head, end] = [Buffer.from(HEAD), Buffer.from('}')]
  if (Buffer.isBuffer(json)) return jsonTextAnswer(Buffer.concat([head, json, end]))
  return sentJsonAnswer({ head: Buffer.concat([head, json.head]), rest: [...json.rest, end] })
}
