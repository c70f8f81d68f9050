import { Refusal } from '../../../core/refusal.ts'
import {
  compileReader,
  compileTrimmed,
  type ReadParameters,
  type TrimmedNames,
} from '../../parameters/parameter-reader.ts'
import { findFields, type FoundValue } from '../../parameters/form-search.ts'
import { queryOf } from '../../parameters/request-target.ts'
import type { Route } from './route.ts'

/** A route with values that are computed once. */
export interface CompiledRoute {
  readonly route: Route
  readonly readParameters: ReadParameters
  /** For changes by a dialect that says it: which names had blanks around. */
  readonly trimmedIn: TrimmedNames | undefined
  /** GET takes no parameters from a body: the body is not read. */
  readonly readsBody: boolean
  readonly maxBodyBytes: number
  /** Routes of the same method and path that a query parameter chooses. */
  readonly variants: readonly CompiledRoute[] | undefined
}

/** More than the longest word that chooses a variant has, with each byte encoded. */
const LONGEST_WORD = 128

/** Finds the route of a request. Nearly all paths are static, so that this is two look-ups; `/ui/*` is all other paths below. */
export class Router {
  readonly #paths = new Map<string, Map<string, CompiledRoute>>()

  /** Throws an Error for two routes of the same method and path. */
  constructor(routes: readonly Route[], maxBodyBytes: number, maxJsonDepth = Infinity) {
    const plain = routes.filter(({ variant }) => variant === undefined)
    const compile = (route: Route) => compileRoute(route, maxBodyBytes, maxJsonDepth)
    for (const route of plain) this.#add(route, routes, compile)
  }

  /** The route, or a Refusal `unknown-path` or `unknown-method` (not thrown). A slash at the end is ignored. */
  find(method: string, path: string): CompiledRoute | Refusal {
    const methods = this.#paths.get(path) ?? this.#withoutSlash(path) ?? this.#below(path)
    if (methods === undefined) return new Refusal('unknown-path', 'There is nothing at this path.')
    // RFC 9110, 9.3.2: the same as GET, without its body, which Node.js leaves out.
    return methods.get(method === 'HEAD' ? 'GET' : method) ?? unknownMethod(method, methods)
  }

  /** The variant of the route that the query of this request target selects, or the route itself. */
  variantOf(found: CompiledRoute, rawUrl: string, maxParameters: number): CompiledRoute {
    const query = queryOf(rawUrl)
    if (found.variants === undefined || query === undefined) return found
    const wanted = found.variants.map(({ route }) => ({ name: route.variant!, longestValue: LONGEST_WORD }))
    const values = findFields({ bytes: Buffer.from(query, 'latin1'), maxParameters }, wanted)
    return found.variants.find((one, index) => selects(one, values[index])) ?? found
  }

  #withoutSlash(path: string): Map<string, CompiledRoute> | undefined {
    return path.endsWith('/') ? this.#paths.get(path.slice(0, -1)) : undefined
  }

  #below(path: string): Map<string, CompiledRoute> | undefined {
    return this.#paths.get(`${path.slice(0, path.indexOf('/', 1) + 1)}*`)
  }

  #add(route: Route, all: readonly Route[], compile: (route: Route) => CompiledRoute): void {
    const methods = this.#paths.get(route.path) ?? new Map<string, CompiledRoute>()
    if (methods.has(route.method)) throw new Error(`There are two routes for ${route.method} ${route.path}.`)
    this.#paths.set(route.path, methods)
    const variants = all.filter((other) => other.variant !== undefined && isSamePlace(other, route))
    methods.set(route.method, {
      ...compile(route),
      variants: variants.length === 0 ? undefined : variants.map(compile),
    })
  }
}

function compileRoute(route: Route, maxBodyBytes: number, maxJsonDepth: number): CompiledRoute {
  return {
    route,
    readParameters: compileReader(route.params, { ...route.rules, maxJsonDepth }),
    trimmedIn:
      route.rules.saysTrimmed === true && route.method !== 'GET' ? compileTrimmed(route.params) : undefined,
    readsBody: route.method !== 'GET',
    maxBodyBytes: route.maxBodyBytes ?? maxBodyBytes,
    variants: undefined,
  }
}

/** Whether a value of its parameter selects a variant: one of its words, or `true`. */
function selects({ route }: CompiledRoute, value: FoundValue): boolean {
  if (typeof value !== 'string') return false
  const words = route.params.properties[route.variant!]?.enum
  return words === undefined ? value === 'true' : words.includes(value)
}

function isSamePlace(a: Route, b: Route): boolean {
  return a.method === b.method && a.path === b.path
}

function unknownMethod(method: string, methods: ReadonlyMap<string, CompiledRoute>): Refusal {
  const allowed = [...methods.keys()].flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ')
  return new Refusal('unknown-method', `This path has no method ${method}, only ${allowed}.`, { allowed })
}
