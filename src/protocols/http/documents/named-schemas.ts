import type { JsonSchema } from '../routing/answer-schema.ts'

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
    const schema = known?.source === source ? known.schema : this.#inner(source)
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
