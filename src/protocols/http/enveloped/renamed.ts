import { Type } from '../../parameters/schema.ts'
import type { Endpoint } from '../routing/endpoint.ts'

/** An endpoint with other parameter names in a dialect: `names` maps the endpoint's names to the dialect's. */
export function renamed(of: Endpoint, names: Readonly<Record<string, string>>): Endpoint {
  const own = new Map(Object.entries(names).map(([name, theirs]) => [theirs, name]))
  return {
    ...of,
    params: Type.Object(withNames(of.params.properties, (name) => names[name] ?? name)),
    handle: (request) => {
      const { caller, rawBody, target } = request
      const params = withNames(request.params, (name) => own.get(name) ?? name)
      return of.handle({ params, caller, rawBody, target, hold: () => request.hold() })
    },
  }
}

function withNames<T>(
  values: Readonly<Record<string, T>>,
  nameOf: (name: string) => string,
): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [nameOf(name), value]))
}
