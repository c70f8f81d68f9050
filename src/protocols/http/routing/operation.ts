import type { Properties } from '../../parameters/schema.ts'
import type { ParameterRules } from '../../parameters/parameter-rules.ts'
import { route, type ErrorFormat, type Method, type Route } from './route.ts'

/** An operation without its place: what a dialect gives a method, a path and the rest to. */
export type Operation<T extends Properties = Properties> = Pick<
  Route<T>,
  | 'summary'
  | 'permission'
  | 'params'
  | 'headers'
  | 'handle'
  | 'maxBodyBytes'
  | 'body'
  | 'bodyTypes'
  | 'variant'
  | 'again'
>

/** What all routes of a part of a dialect have in common. */
export interface RouteDefaults {
  readonly rules: ParameterRules
  readonly errors: ErrorFormat
}

/** Keeps the types of an operation's parameters while tables hold operations of every kind. */
export function operation<T extends Properties>(definition: Operation<T>): Operation {
  return definition as unknown as Operation
}

/** Gives operations their places: rows of method, path and operation. */
export function placeRoutes(
  defaults: RouteDefaults,
  prefix: string,
  rows: readonly (readonly [Method, string, Operation])[],
): Route[] {
  return rows.map(([method, path, of]) => route({ ...of, ...defaults, method, path: `${prefix}${path}` }))
}
