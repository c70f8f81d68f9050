import type { Properties } from '../../parameters/schema.ts'
import type { ParameterRules } from '../../parameters/parameter-rules.ts'
import { route, type ErrorFormat, type Method, type Route } from './route.ts'

/** A route without its place: a dialect gives it a method, a path and the rest. */
export type Endpoint<T extends Properties = Properties> = Pick<
  Route<T>,
  | 'summary'
  | 'permission'
  | 'params'
  | 'headers'
  | 'answers'
  | 'handle'
  | 'maxBodyBytes'
  | 'body'
  | 'bodyTypes'
  | 'variant'
  | 'again'
>

/** The common fields of all routes of a part of a dialect. */
export interface RouteDefaults {
  readonly rules: ParameterRules
  readonly errors: ErrorFormat
}

/** Keeps the types of an endpoint's parameters while tables hold endpoints of every kind. */
export function endpoint<T extends Properties>(definition: Endpoint<T>): Endpoint {
  return definition as unknown as Endpoint
}

/** Gives endpoints their places: rows of method, path and endpoint. */
export function placeRoutes(
  defaults: RouteDefaults,
  prefix: string,
  rows: readonly (readonly [Method, string, Endpoint])[],
): Route[] {
  return rows.map(([method, path, of]) => route({ ...of, ...defaults, method, path: `${prefix}${path}` }))
}
