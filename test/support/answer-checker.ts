import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Reply } from '../interface/client.ts'

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>
}

/** The part of the OpenAPI document that says what is answered. */
export interface AnswerDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const DOCUMENT = 'document'

/** Compares answers with the document that describes them, and knows which descriptions were used. */
export class AnswerChecker {
  readonly #document: AnswerDocument
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  readonly #validators = new Map<string, ValidateFunction>()
  /** The descriptions that were compared with an answer, as `METHOD /path type`. */
  readonly checked = new Set<string>()

  constructor(document: AnswerDocument) {
    this.#document = document
    this.#ajv.addSchema(document, DOCUMENT)
  }

  /** All descriptions of the paths that start so, as `METHOD /path type`. */
  described(prefix: string): string[] {
    return this.#operations(prefix).flatMap(([name, operation]) =>
      Object.keys(contentOf(operation)).map((type) => `${name} ${type}`),
    )
  }

  /** The operations of the paths that start so without a description of their answer. */
  withoutAnswer(prefix: string): string[] {
    return this.#operations(prefix)
      .filter(([, operation]) => Object.keys(contentOf(operation)).length === 0)
      .map(([name]) => name)
  }

  /** The differences of a successful answer from the document; empty without any. */
  wrongIn(method: string, path: string, { status, headers, text }: Reply): string[] {
    const type = headers['content-type']?.split(';')[0] ?? ''
    if (status !== 200) return [`${method} ${path} answered ${status}: ${text}`]
    const operation = this.#document.paths[path]?.[method.toLowerCase()]
    if (operation === undefined || contentOf(operation)[type] === undefined)
      return [`${method} ${path}: no answer of the type ${type} is described`]
    this.checked.add(`${method} ${path} ${type}`)
    const validate = this.#validatorOf(method, path, type)
    if (valuesIn(type, text).every((value) => validate(value))) return []
    const errors = validate.errors?.map(({ instancePath, message, params }) => {
      return `${instancePath} ${message} ${JSON.stringify(params)}`
    })
    return [`${method} ${path}: ${text.slice(0, 2_000)}`, ...(errors ?? [])]
  }

  #operations(prefix: string): (readonly [string, Operation])[] {
    return Object.entries(this.#document.paths)
      .filter(([path]) => path.startsWith(prefix))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one] as const),
      )
  }

  #validatorOf(method: string, path: string, type: string): ValidateFunction {
    const place = ['paths', path, method.toLowerCase(), 'responses', '200', 'content', type, 'schema']
    const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const known = this.#validators.get(pointer)
    if (known !== undefined) return known
    const made = this.#ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` })
    this.#validators.set(pointer, made)
    return made
  }
}

/** The subject of the description: the answer, or the data of each event of a stream. */
function valuesIn(type: string, text: string): unknown[] {
  if (type === 'text/event-stream')
    return Array.from(text.matchAll(/^data: (.*)$/gm), ([, data]) => JSON.parse(data!) as unknown)
  return [type === 'application/json' ? JSON.parse(text) : text]
}

function contentOf({ responses }: Operation): Readonly<Record<string, object>> {
  return responses['200']?.content ?? {}
}
