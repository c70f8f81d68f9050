import { JSON_TYPE, PROBLEM_JSON } from '../routing/answers.ts'
import { SharedParts, type Json, type PlaceOfPart } from './shared-parts.ts'

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
  return shared.components
}

function parameterPlaces({ parameters }: DescribedOperation): PlaceOfPart[] {
  return parameters.map((part, at) => ({
    name: part['name'] as string,
    part,
    replace: (reference) => (parameters[at] = reference),
  }))
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

/** A name of its own, because parameters and answers may have the same. */
function fieldPlaces(body: Body | undefined): PlaceOfPart[] {
  const form = body?.content?.['application/x-www-form-urlencoded']?.schema.properties ?? {}
  return Object.entries(form).map(([name, part]) => ({
    name: `${name}Field`,
    part: part as Json,
    replace: (reference) => (form[name] = reference),
  }))
}
