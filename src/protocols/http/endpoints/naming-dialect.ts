import { javaJson } from '../../answers/java-numbers.ts'
import { type AnswerSchemas, answersJson, type JsonSchema } from '../routing/answer-schema.ts'
import { jsonAnswer, jsonTextAnswer } from '../routing/answers.ts'
import type { Answer } from '../routing/answer.ts'

/** How a dialect shows services, instances and the server itself. */
export interface NamingDialect {
  /** Whether answers have, besides the fields of interface.md, all fields that the Java server always writes. */
  readonly hasJavaKeys: boolean
  readonly text: (value: unknown) => string
  readonly json: (value: unknown) => Answer
  /** The schemas in the OpenAPI document for answers with the fields of interface.md alone. */
  readonly described: (schema: JsonSchema) => AnswerSchemas
}

/** `/svc`: the fields of interface.md. */
export const SVC_DIALECT: NamingDialect = {
  hasJavaKeys: false,
  text: (value) => JSON.stringify(value),
  json: (value) => jsonAnswer(value),
  described: answersJson,
}

/** `/nacos`: doubles are written as Java writes them. */
export const JAVA_DIALECT: NamingDialect = {
  hasJavaKeys: true,
  text: javaJson,
  json: (value) => jsonTextAnswer(javaJson(value)),
  described: () => ({}),
}
