import { JSON_TYPE, PROBLEM_JSON } from '../routing/answers.ts'
import type { FieldSchema } from '../../parameters/parameter-field.ts'
import type { HeaderNote, Route, AnswerSchemas, JsonSchema } from '../routing/route.ts'
import {
  NamedSchemas,
  type Body,
  type DescribedOperation,
  shareParts,
  type Json,
} from './shared-operations.ts'

/**
 * The OpenAPI 3.1 document of a route table: the same schemas that requests are checked by. Parameters of
 * methods with a body may come in the query or as a form; the document offers both. Operations refer to the
 * parts that others have, too.
 */
export function describeApi(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Record<string, DescribedOperation>> = {}
  const answers = new NamedSchemas()
  for (const route of routes) {
    if (route.variant !== undefined) continue
    const methods = (paths[route.path] ??= {})
    methods[route.method.toLowerCase()] = describeRoute(withVariants(route, routes), answers)
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Waypost',
      version,
      description: 'Configuration, service discovery and namespaces. An empty parameter counts as absent.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: shareParts(operations, { Problem: PROBLEM_SCHEMA, ...answers.schemas }),
  }
}

/**
 * A document has one operation for each method of a path. The variants that a parameter selects are described as its
 * optional parameters and further content types. It requires the parameters that the plain operation requires.
 */
function withVariants(route: Route, routes: readonly Route[]): Route {
  const variants = routes.filter(
    ({ variant, method, path }) => variant !== undefined && method === route.method && path === route.path,
  )
  if (variants.length === 0) return route
  const more = variants.map(({ params }) => params.properties)
  const bodyTypes = Object.assign({}, ...[route, ...variants].map((one) => one.bodyTypes ?? {})) as Json
  const summary = [route, ...variants].map((one) => one.summary).join('; or: ')
  const properties = Object.assign({}, ...more, route.params.properties) as Route['params']['properties']
  return {
    ...route,
    summary,
    params: { ...route.params, properties },
    bodyTypes: bodyTypes as Record<string, object>,
    answers: answersOfAll([route, ...variants]),
  }
}

/** If variants answer the same content type, its schema is `anyOf` theirs. */
function answersOfAll(routes: readonly Route[]): AnswerSchemas {
  const all = new Map<string, JsonSchema[]>()
  for (const { answers = {} } of routes)
    for (const [type, schema] of Object.entries(answers)) all.set(type, [...(all.get(type) ?? []), schema])
  const one = (schemas: JsonSchema[]) => (schemas.length === 1 ? schemas[0]! : { anyOf: schemas })
  return Object.fromEntries([...all].map(([type, schemas]) => [type, one(schemas)]))
}

function describeRoute(route: Route, named: NamedSchemas): DescribedOperation {
  const { action, resource } = route.permission
  const required = new Set<string>(route.params.required as readonly string[] | undefined)
  const fields = Object.entries(route.params.properties).map(([name, schema]) =>
    fieldOf(name, schema as FieldSchema, required.has(name)),
  )
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [resource],
    'x-permission': { action, resource },
    parameters: [
      ...fields.map((field) => parameter(field, route.method !== 'GET')),
      ...fields.flatMap((field) => otherNames(field, route)),
      ...Object.entries(route.headers ?? {}).map(([name, note]) => headerParameter(name, note)),
    ],
    ...(route.method === 'GET' || fields.length === 0 ? {} : { requestBody: bodyOf(fields, route) }),
    responses: responses(route, named),
  }
}

interface HeaderOrField {
  readonly name: string
  readonly required: boolean
  readonly schema: Json
  readonly aliases: readonly string[]
  readonly description: string | undefined
}

/** A schema without its description, and with our own keywords as extensions. */
function fieldOf(name: string, source: FieldSchema, isRequired: boolean): HeaderOrField {
  const {
    aliases = [],
    allowEmpty,
    trim: _,
    mayBeJson: __,
    maxBytes,
    allowed,
    description,
    ...schema
  } = source
  return {
    name,
    // A parameter with a default may be left out, although the handler always gets a value.
    required: isRequired && source.default === undefined,
    schema: {
      ...schema,
      ...(allowEmpty === undefined ? {} : { 'x-allow-empty': allowEmpty }),
      ...(maxBytes === undefined ? {} : { 'x-max-bytes': maxBytes }),
      ...(allowed === undefined ? {} : { 'x-allowed': allowed }),
    },
    aliases,
    description,
  }
}

/**
 * The other names of a parameter, each as an optional one, unless it is the name of a parameter of a variant. The rules of the first
 * name hold for all.
 */
function otherNames({ name: first, aliases, schema: rules }: HeaderOrField, { params }: Route): Json[] {
  const description = `The same as ${first}, which goes first.`
  const schema = rules['enum'] === undefined ? { type: rules['type'] } : { enum: rules['enum'] }
  const names = aliases.filter((name) => !Object.hasOwn(params.properties, name))
  return names.map((name) => ({ name, in: 'query', description, schema }))
}

function headerParameter(name: string, { description, required }: HeaderNote): Json {
  return { name, in: 'header', ...(required ? { required } : {}), description, schema: { type: 'string' } }
}

/** In the query a parameter is never required where a form may carry it instead. */
function parameter({ name, required, schema, description }: HeaderOrField, mayBeInForm: boolean): Json {
  return {
    name,
    in: 'query',
    ...(required && !mayBeInForm ? { required } : {}),
    ...(description === undefined ? {} : { description }),
    schema,
    ...(required && mayBeInForm ? { 'x-required': 'in the query or in the form' } : {}),
  }
}

function bodyOf(fields: readonly HeaderOrField[], { bodyTypes = {} }: Route): Body {
  const properties = fields.map(({ name, schema, description }) => [
    name,
    description === undefined ? schema : { ...schema, description },
  ])
  const schema = { type: 'object', properties: Object.fromEntries(properties) as Json }
  const others = Object.entries(bodyTypes).map(([type, one]) => [type, { schema: one }])
  const content = { 'application/x-www-form-urlencoded': { schema }, ...(Object.fromEntries(others) as Json) }
  return { content }
}

function responses({ path, answers }: Route, named: NamedSchemas): DescribedOperation['responses'] {
  const bodies = Object.entries(answers ?? {}).map(([type, schema]) => [
    type,
    { schema: named.referred(schema) },
  ])
  return {
    '200': {
      description: 'OK',
      ...(bodies.length === 0 ? {} : { content: Object.fromEntries(bodies) as Json }),
    },
    default: {
      description:
        '4XX: the request was not carried out, and changed nothing. 5XX: a fault of the server, or it does not serve this now',
      content: errorOf(path),
    },
  }
}

/** How an error is answered on a path. */
function errorOf(path: string): Json {
  if (/^\/nacos\/v[23]\//.test(path)) return { [JSON_TYPE]: { schema: ENVELOPE_OF_ERROR } }
  return path.startsWith('/nacos')
    ? { 'text/plain': { schema: { type: 'string' } } }
    : { [PROBLEM_JSON]: { schema: { $ref: '#/components/schemas/Problem' } } }
}

const ENVELOPE_OF_ERROR = {
  type: 'object',
  required: ['code', 'message'],
  properties: { code: { type: 'integer' }, message: { type: 'string' }, data: { type: ['string', 'null'] } },
} as const

function operationId({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words].join('_')
}

const PROBLEM_SCHEMA = {
  type: 'object',
  description: 'Problem details (RFC 9457)',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: 'urn:waypost:problem:<code>, stable' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    parameter: { type: 'string', description: 'The parameter that it is about' },
    allowed: { type: 'string', description: 'What is allowed there' },
    instance: { type: 'string', description: 'Names this one failure, in the log of the server too' },
  },
} as const
