/** The OpenAPI document of a build, which a server has at `/openapi.json`, too. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { apiDocument } from '../src/server/doors/api-document.ts'
import { nameOf, routesFor } from './routes/route-table.ts'
import { withoutReferences } from './support/without-references.ts'

const MOST_BYTES_OF_OPERATION = 1_300

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters: readonly { readonly in: string; readonly name: string; readonly schema: object }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>
}

interface Document {
  readonly openapi: string
  readonly info: object
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const text = apiDocument()
const document = JSON.parse(text) as Document
const { paths } = withoutReferences(document)
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one] as const),
)

describe('the API document', () => {
  test('is the same each time', () => {
    expect(apiDocument()).toBe(text)
  })

  test('has every operation of the server', () => {
    const routes = routesFor({ isOn: true, allows: () => false }).filter(
      ({ variant }) => variant === undefined,
    )
    expect(operations.map(([name]) => name).toSorted()).toEqual(routes.map(nameOf).toSorted())
  })

  test(`has at most ${MOST_BYTES_OF_OPERATION} bytes for each operation`, () => {
    expect(Buffer.byteLength(text) / operations.length).toBeLessThanOrEqual(MOST_BYTES_OF_OPERATION)
  })

  test('refers to each of its shared parts', () => {
    const parts = Object.entries(document.components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `"#/components/${kind}/${name}"`),
    )
    expect(parts.length).toBeGreaterThan(200)
    expect(parts.filter((part) => !text.includes(part))).toEqual([])
  })

  test('is OpenAPI 3.1', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ title: 'Waypost', version: expect.stringMatching(/^\d/) })
    const ids = operations.map(([, { operationId }]) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(
      Object.keys(document.components).flatMap((kind) => Object.keys(document.components[kind]!)),
    ).toSatisfy((names: string[]) => names.every((name) => /^[\w.-]+$/.test(name)))
  })

  test('describes each operation as OpenAPI does', () => {
    const ajv = new Ajv2020({ strict: false })
    const wrong = operations.flatMap(([name, { summary, parameters, requestBody, responses }]) => {
      const places = parameters.map((one) => `${one.in} ${one.name}`)
      const bodies = [requestBody, ...Object.values(responses)]
      const schemas = [...parameters, ...bodies.flatMap((one) => Object.values(one?.content ?? {}))]
      const isRight =
        summary !== '' &&
        new Set(places).size === places.length &&
        places.every((place) => /^(?:query|header) \S+$/.test(place)) &&
        Object.entries(responses).every(([status, { description }]) =>
          /^(?:200|default) ./.test(`${status} ${description}`),
        ) &&
        schemas.every(({ schema }) => ajv.validateSchema(schema) === true)
      return isRight ? [] : [name]
    })
    expect(wrong).toEqual([])
  })
})
