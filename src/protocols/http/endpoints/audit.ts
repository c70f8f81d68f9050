import type { Answer, Handled, Request, Route } from '../routing/route.ts'

/** Where changes by operators are logged. */
export interface AuditLog {
  info(facts: object, text: string): void
}

/** The most characters of a value or an answer in the log: enough to recognise it. */
const MOST_CHARACTERS = 256

/** The routes; those that change the server for everybody (switches, namespaces, backups) log who used them. */
export function auditedRoutes(routes: readonly Route[], log: AuditLog): Route[] {
  return routes.map((route) => (isAudited(route) ? audited(route, log) : route))
}

function isAudited({ permission: { action, resource } }: Route): boolean {
  return action === 'write' && (resource === 'namespace' || resource === 'operator' || resource === 'backup')
}

function audited(route: Route, log: AuditLog): Route {
  const report = (request: Request<object>, answer: Answer | undefined): Answer | undefined => {
    if (answer !== undefined && answer.status < 400)
      log.info(factsOf(route, request, answer), 'an operator made a change')
    return answer
  }
  const handle = (request: Parameters<Route['handle']>[0]): Handled => {
    const handled = route.handle(request)
    return handled instanceof Promise
      ? handled.then((answer) => report(request, answer))
      : report(request, handled)
  }
  return { ...route, handle }
}

function factsOf({ method, path }: Route, { caller, params }: Request<object>, { body }: Answer): object {
  const sent = Object.entries(params).map(([name, value]) => [name, shortened(String(value))])
  return { ip: caller.ip, method, path, params: Object.fromEntries(sent), answer: shortened(String(body)) }
}

function shortened(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}
