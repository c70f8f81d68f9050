import type { PlanChecker, PlanService } from '../../plan/plan.ts'

/** The fields of checkers that this kind of server never shows. */
const HIDDEN = ['pwd', 'publicKey', 'ca'] as const

/**
 * The service for the write. This server shows neither passwords of checkers nor values of header fields, so the values
 * that the other server has under the same name stay. A header field that it does not have is left out, because it has
 * no value here.
 */
export function withKeptSecrets(service: PlanService, before: PlanService | undefined): PlanService {
  const checkers = new Map(before?.clusters.map(({ name, checker }) => [name, checker]))
  const clusters = service.clusters.map((cluster) => ({
    ...cluster,
    checker: completed(cluster.checker, checkers.get(cluster.name)),
  }))
  return { ...service, clusters }
}

/** Whether a checker has a secret that the source does not show. */
export function lacksSecrets({ type, headers }: PlanChecker): boolean {
  return type === 'MYSQL' || headerFields(headers).some((field) => !field.includes(':'))
}

function completed(checker: PlanChecker, before: PlanChecker | undefined): PlanChecker {
  const known = before?.type === checker.type ? before : undefined
  const hidden = HIDDEN.filter((name) => checker[name] === undefined && known?.[name] !== undefined)
  const kept = Object.fromEntries(hidden.map((name) => [name, known![name]]))
  if (typeof checker['headers'] !== 'string') return { ...checker, ...kept }
  const values = new Map(headerFields(known?.['headers']).map((field) => [nameIn(field), field]))
  const headers = headerFields(checker['headers'])
    .map((field) => (field.includes(':') ? field : values.get(field)))
    .filter((field) => field !== undefined)
  return { ...checker, ...kept, headers: headers.join('|') }
}

function headerFields(headers: unknown): string[] {
  return typeof headers === 'string' ? headers.split('|').filter((field) => field !== '') : []
}

function nameIn(field: string): string {
  return field.split(':')[0]!
}
