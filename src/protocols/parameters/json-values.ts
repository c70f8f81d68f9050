import { invalid } from './parameter-field.ts'
import type { ParameterValues } from './parameter-reader.ts'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * The members of JSON objects, as texts of parameters. The first object that has a member counts; `null` and `''` count
 * as absent, because clients send them for "nothing". A list or an object is refused.
 */
export class JsonValues implements ParameterValues {
  readonly #objects: readonly JsonObject[]

  constructor(...objects: readonly JsonObject[]) {
    this.#objects = objects
  }

  get(name: string): string | undefined {
    for (const object of this.#objects) {
      const text = Object.hasOwn(object, name) ? textOf(name, object[name]) : undefined
      if (text !== undefined) return text
    }
    return undefined
  }

  plain(name: string): number | boolean | undefined {
    for (const object of this.#objects) {
      const value = Object.hasOwn(object, name) ? object[name] : undefined
      if (typeof value === 'number' || typeof value === 'boolean') return value
      if (value !== undefined && value !== null && value !== '') return undefined
    }
    return undefined
  }
}

function textOf(name: string, value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value === '' ? undefined : value
    case 'number':
    case 'boolean':
      return `${value}`
    case 'object':
      if (value === null) return undefined
      throw invalid(name, 'a text, a number or a boolean', Array.isArray(value) ? 'a list' : 'an object')
    default:
      return undefined
  }
}
