import { Type, SVC_RULES } from '../../parameters/schema.ts'
import { expect, test } from 'vitest'
import * as fields from '../../parameters/fields.ts'
import { openapiRoute } from './openapi-route.ts'
import { describeApi } from './openapi.ts'
import { problemErrors } from '../errors/problem.ts'
import { route, type Method } from '../routing/route.ts'

function configs(method: Method) {
  return route({
    method,
    path: '/svc/v1/cs/configs',
    summary: `${method} a configuration item`,
    permission: { action: method === 'GET' ? 'read' : 'write', resource: 'config' },
    params: Type.Object({
      tenant: Type.Optional(fields.tenant),
      dataId: fields.dataId,
      pageSize: fields.withDefault(fields.pageSize, 100),
      healthy: Type.Optional(fields.withAliases(fields.healthy, 'valid')),
      content: fields.content,
    }),
    rules: SVC_RULES,
    errors: problemErrors,
    handle: () => undefined,
  })
}

interface Operation {
  'x-permission': object
  requestBody: { content: Record<string, { schema: { properties: Record<string, object> } }> }
  parameters: { name?: string; required?: boolean; $ref?: string; schema?: object }[]
  responses: Record<string, { $ref?: string; content: Record<string, object> }>
}

interface Document {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<'get' | 'post', Operation>>
  components: Record<'schemas' | 'parameters' | 'responses' | 'requestBodies', Record<string, object>>
}

function described(document: object): Document {
  return document as Document
}

test('parameters of GET are in the query, with the schemas that check them', () => {
  const document = described(describeApi([configs('GET')], '1.2.3'))
  const operation = document.paths['/svc/v1/cs/configs']!.get
  expect(document.openapi).toBe('3.1.0')
  expect(document.info.version).toBe('1.2.3')
  expect(operation['x-permission']).toEqual({ action: 'read', resource: 'config' })
  expect(operation.requestBody).toBeUndefined()
  const byName = new Map(operation.parameters.map((one) => [one.name, one]))
  expect(byName.get('dataId')).toMatchObject({
    in: 'query',
    required: true,
    schema: { type: 'string', maxLength: 256 },
  })
  expect(byName.get('tenant')).not.toHaveProperty('required')
  expect(byName.get('pageSize')).toMatchObject({ schema: { default: 100, minimum: 1 } })
  expect(byName.get('valid')).toMatchObject({ schema: { type: 'boolean' } })
  expect(byName.get('content')).toMatchObject({ schema: { 'x-max-bytes': 10_485_760 } })
  expect(operation.responses['default']!.content['application/problem+json']).toBeDefined()
})

test('methods with a body offer a form as well', () => {
  const { post } = described(describeApi([configs('POST')], '1')).paths['/svc/v1/cs/configs']!
  const form = post.requestBody.content['application/x-www-form-urlencoded']!.schema
  expect(Object.keys(form.properties)).toEqual(['tenant', 'dataId', 'pageSize', 'healthy', 'content'])
  expect(post.parameters.filter((one) => one.required)).toEqual([])
})

test('bodies of an operation and of its variants are offered together', () => {
  const plain = { ...configs('POST'), bodyTypes: { 'text/plain': { type: 'string' } } }
  const variant = {
    ...configs('POST'),
    variant: 'import',
    bodyTypes: { 'multipart/form-data': { type: 'object' } },
  }
  const { post } = described(describeApi([plain, variant], '1')).paths['/svc/v1/cs/configs']!
  expect(Object.keys(post.requestBody.content)).toEqual([
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data',
  ])
})

test('parts of several operations are in the document once', () => {
  const { paths, components } = described(describeApi([configs('GET'), configs('POST')], '1'))
  const { get, post } = paths['/svc/v1/cs/configs']!
  expect(get.parameters[0]).toEqual({ $ref: '#/components/parameters/tenant' })
  expect(post.parameters[0]).toEqual({ $ref: '#/components/parameters/tenant' })
  expect(components.parameters['tenant']).toMatchObject({ name: 'tenant', in: 'query' })
  // GET requires it, so the two are not shared.
  expect(get.parameters[1]).toMatchObject({ name: 'dataId', required: true })
  expect(post.parameters[1]).toMatchObject({ name: 'dataId', 'x-required': 'in the query or in the form' })
  expect(post.responses['default']).toEqual({ $ref: '#/components/responses/Problem' })
})

test('parameters and a field that differ in their descriptions alone, or in being required, share a schema', () => {
  const { paths, components } = described(describeApi([configs('GET'), configs('POST')], '1'))
  const { get, post } = paths['/svc/v1/cs/configs']!
  const schema = { $ref: '#/components/schemas/dataIdValue' }
  expect([get.parameters[1]!.schema, post.parameters[1]!.schema]).toEqual([schema, schema])
  const { properties } = post.requestBody.content['application/x-www-form-urlencoded']!.schema
  expect(properties['dataId']).toEqual({ ...schema, description: 'The id of the configuration item.' })
  expect(components.schemas['dataIdValue']).toMatchObject({ type: 'string', maxLength: 256 })
})

test('a part that is shorter than a reference to it stays at its places', () => {
  const { components } = described(describeApi([configs('GET'), configs('POST')], '1'))
  for (const name of ['healthy', 'valid'])
    expect(components.parameters[name]).toMatchObject({ schema: { type: 'boolean' } })
})

test('the route of the document describes itself', () => {
  const self = openapiRoute([configs('GET')], '1')
  const answer = self.handle({} as Parameters<typeof self.handle>[0]) as { body: Buffer; contentType: string }
  expect(answer.contentType).toBe('application/json')
  expect(Object.keys(JSON.parse(answer.body.toString()).paths)).toEqual([
    '/svc/v1/cs/configs',
    '/openapi.json',
  ])
})
