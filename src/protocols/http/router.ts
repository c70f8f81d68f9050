import { Refusal } from '../../core/refusal.ts'
import { compileReader, type ReadParameters } from './parameter-reader.ts'
import type { Route } from './route.ts'

/** A route with what is worked out of it once. */
export interface CompiledRoute {
  readonly route: Route
  readonly readParameters: ReadParameters
  /** GET takes no parameters from a body; what a client sends there is not read. */
  readonly readsBody: boolean
  readonly maxBodyBytes: number
}

/** Finds the route of a request. All paths are static, so that this is two look-ups. */
export class Router {
  readonly #paths = new Map<string, Map<string, CompiledRoute>>()

  /** Throws an Error for two routes of the same method and path. */
  constructor(routes: readonly Route[], maxBodyBytes: number) {
    for (const route of routes) this.#add(route, maxBodyBytes)
  }

  /** The route, or a Refusal `unknown-path` or `unknown-method` (not thrown). A slash at the end is ignored. */
  find(method: string, path: string): CompiledRoute | Refusal {
    const methods = this.#paths.get(path) ?? this.#withoutSlash(path)
    if (methods === undefined) return new Refusal('unknown-path', 'There is nothing at this path.')
    return methods.get(method) ?? unknownMethod(method, methods)
  }

  #withoutSlash(path: string): Map<string, CompiledRoute> | undefined {
    return path.endsWith('/') ? this.#paths.get(path.slice(0, -1)) : undefined
  }

  #add(route: Route, maxBodyBytes: number): void {
    const methods = this.#paths.get(route.path) ?? new Map<string, CompiledRoute>()
    if (methods.has(route.method)) throw new Error(`There are two routes for ${route.method} ${route.path}.`)
    this.#paths.set(route.path, methods)
    methods.set(route.method, {
      route,
      readParameters: compileReader(route.params, route.rules),
      readsBody: route.method !== 'GET',
      maxBodyBytes: route.maxBodyBytes ?? maxBodyBytes,
    })
  }
}

function unknownMethod(method: string, methods: ReadonlyMap<string, CompiledRoute>): Refusal {
  const allowed = [...methods.keys()].join(', ')
  return new Refusal('unknown-method', `This path has no method ${method}, only ${allowed}.`, { allowed })
}
