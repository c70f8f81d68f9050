import { JSON_TYPE, PROBLEM_JSON } from '../routing/answers.ts'
import type { JsonSchema } from '../routing/route.ts'

/** A part of an OpenAPI document. */
export type Json = Record<string, unknown>

/** The fields of `components` that hold parts of operations. */
type Kind = 'schemas' | 'parameters' | 'requestBodies' | 'responses'

/** A place in the document that may hold a reference instead of its part. */
interface PlaceOfPart {
  /** The name of the part in the document. Different parts of one name get a number behind it. */
  readonly name: string
  readonly part: Json
  readonly replace: (reference: Json) => void
}

/** The parts that occur at several places of a document: `components` has each once, and the places refer to it, where that is shorter. */
class SharedParts {
  readonly components: Record<Kind, Json>

  constructor(schemas: Json) {
    this.components = { schemas: { ...schemas }, parameters: {}, requestBodies: {}, responses: {} }
  }

  /** Replaces each part that is in two places or more, unless references to it would make the document longer. */
  share(kind: Kind, places: readonly PlaceOfPart[]): void {
    const byText = new Map<string, PlaceOfPart[]>()
    for (const place of places) {
      const text = JSON.stringify(place.part)
      const same = byText.get(text)
      if (same === undefined) byText.set(text, [place])
      else same.push(place)
    }
    for (const [text, same] of byText) if (isShorterOnce(kind, text, same)) this.#move(kind, same)
  }

  #move(kind: Kind, same: readonly PlaceOfPart[]): void {
    const { name, part } = same[0]!
    const parts = this.components[kind]
    let key = name
    for (let number = 2; key in parts; number++) key = `${name}${number}`
    parts[key] = part
    for (const { replace } of same) replace(referenceTo(kind, key))
  }
}

function referenceTo(kind: Kind, key: string): Json {
  return { $ref: `#/components/${kind}/${key}` }
}

/** Whether the document is shorter with a part once, and references at its places. */
function isShorterOnce(kind: Kind, text: string, places: readonly PlaceOfPart[]): boolean {
  const { name } = places[0]!
  const once = `"${name}":${text},`.length + places.length * JSON.stringify(referenceTo(kind, name)).length
  return once < places.length * text.length
}

/** A request body: contents by their types. */
export interface Body extends Json {
  readonly content: Readonly<Record<string, { readonly schema: Json & { readonly properties?: Json } }>>
}

/** An operation of the document, whose parts may become references. */
export interface DescribedOperation extends Json {
  readonly operationId: string
  readonly parameters: Json[]
  requestBody?: Body | undefined
  readonly responses: { '200': Json; default: Json }
}

/**
 * The `components` of a document: these schemas, and the parameters, form fields, bodies and errors that several
 * operations have. The operations refer to them from now on.
 */
export function shareParts(operations: readonly DescribedOperation[], schemas: Json): Json {
  const shared = new SharedParts(schemas)
  shared.share('parameters', operations.flatMap(parameterPlaces))
  shared.share('responses', operations.flatMap(answerPlaces))
  shared.share('responses', operations.map(errorPlace))
  shared.share('requestBodies', operations.flatMap(bodyPlaces))
  const bodies = [
    ...Object.values(shared.components.requestBodies),
    ...operations.map(({ requestBody }) => requestBody),
  ]
  shared.share(
    'schemas',
    bodies.flatMap((body) => fieldPlaces(body as Body | undefined)),
  )
  const parameters = [
    ...Object.values(shared.components.parameters),
    ...operations.flatMap((one) => one.parameters),
  ]
  const forms = [...bodies.map((body) => formOf(body as Body | undefined)), shared.components.schemas]
  shared.share('schemas', [...(parameters as Json[]).flatMap(valuePlaces), ...forms.flatMap(valuesOfFields)])
  return shared.components
}

function parameterPlaces({ parameters }: DescribedOperation): PlaceOfPart[] {
  return parameters.map((part, at) => ({
    name: part['name'] as string,
    part,
    replace: (reference) => (parameters[at] = reference),
  }))
}

/** The schema of a parameter, which may be required in one operation only. */
function valuePlaces(parameter: Json): PlaceOfPart[] {
  const { name, schema } = parameter as { name?: string; schema?: Json }
  if (name === undefined || schema === undefined) return []
  return [{ name: `${name}Value`, part: schema, replace: (reference) => (parameter['schema'] = reference) }]
}

/** The schemas of fields. Each field keeps a description of its own, beside the reference. */
function valuesOfFields(fields: Json): PlaceOfPart[] {
  return Object.entries(fields).flatMap(([field, schema]) => {
    const { description, ...part } = schema as Json
    const replace = (reference: Json): void => void (fields[field] = { ...reference, description })
    return description === undefined ? [] : [{ name: `${field}Value`, part, replace }]
  })
}

function formOf(body: Body | undefined): Json {
  return body?.content?.['application/x-www-form-urlencoded']?.schema.properties ?? {}
}

/** A part has the name of its schema, if that has one. */
function answerPlaces({ responses }: DescribedOperation): PlaceOfPart[] {
  const part = responses['200']
  const [first] = Object.values((part['content'] ?? {}) as Body['content'])
  if (first === undefined) return []
  const { $ref, const: word } = first.schema as { $ref?: string; const?: unknown }
  const name =
    $ref?.replace(/^.*\//, '') ?? (word === undefined ? 'Answer' : JSON.stringify(word).replaceAll('"', ''))
  return [{ name, part, replace: (reference) => (responses['200'] = reference) }]
}

/** The names of errors by their content types. */
const ERRORS: Readonly<Record<string, string>> = {
  [PROBLEM_JSON]: 'Problem',
  [JSON_TYPE]: 'ErrorInEnvelope',
  'text/plain': 'ErrorText',
}

function errorPlace({ responses }: DescribedOperation): PlaceOfPart {
  const part = responses['default']
  const [type = ''] = Object.keys(part['content'] as Json)
  return { name: ERRORS[type] ?? 'Error', part, replace: (reference) => (responses['default'] = reference) }
}

/** The name is the same in all dialects: `post_ns_instance`. */
function bodyPlaces(operation: DescribedOperation): PlaceOfPart[] {
  const { operationId, requestBody } = operation
  if (requestBody === undefined) return []
  const replace = (reference: Json): void => void (operation.requestBody = reference as Body)
  return [{ name: operationId.replace(/_(?:svc|nacos)_v\d/, ''), part: requestBody, replace }]
}

/** The fields of a form, and a whole body of JSON. Names of their own, because parameters and answers may have the same. */
function fieldPlaces(body: Body | undefined): PlaceOfPart[] {
  const form = formOf(body)
  const json = body?.content?.[JSON_TYPE]
  const whole = {
    name: 'JsonBody',
    part: json?.schema as Json,
    replace: (schema: Json) => void Object.assign(json!, { schema }),
  }
  const fields = Object.entries(form).map(([name, part]) => ({
    name: `${name}Field`,
    part: part as Json,
    replace: (reference: Json) => (form[name] = reference),
  }))
  return json === undefined ? fields : [...fields, whole]
}

/** Collects the schemas that have a name (`title`), so that a document has each once. */
export class NamedSchemas {
  readonly #schemas = new Map<string, { readonly source: JsonSchema; readonly schema: unknown }>()

  /** By name. */
  get schemas(): Record<string, unknown> {
    return Object.fromEntries([...this.#schemas].map(([name, { schema }]) => [name, schema]))
  }

  /** The schema with references instead of named schemas. Throws an Error if two different schemas have one name. */
  referred(source: JsonSchema): unknown {
    const name = source['title']
    if (typeof name !== 'string') return this.#inner(source)
    const known = this.#schemas.get(name)
    const { title: _, ...untitled } = source
    const schema = known?.source === source ? known.schema : this.#inner(untitled)
    if (known === undefined) this.#schemas.set(name, { source, schema })
    else if (JSON.stringify(known.schema) !== JSON.stringify(schema))
      throw new Error(`Two schemas have the name ${name}.`)
    return { $ref: `#/components/schemas/${name}` }
  }

  #inner(schema: JsonSchema): JsonSchema {
    const entries = Object.entries(schema).map(([key, value]) => [
      key,
      this.#part(value, key === 'properties'),
    ])
    return Object.fromEntries(entries) as JsonSchema
  }

  /** The keys of `properties` are names of parameters, not keywords of JSON Schema. */
  #part(value: unknown, areProperties: boolean): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#part(one, false))
    if (typeof value !== 'object' || value === null) return value
    if (!areProperties) return this.referred(value as JsonSchema)
    const properties = Object.entries(value as Record<string, JsonSchema>)
    return Object.fromEntries(properties.map(([name, one]) => [name, this.referred(one)]))
  }
}
