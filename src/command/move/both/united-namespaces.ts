import type { PlanLine, PlanNamespace, PlanNote } from '../../../move/plan.ts'

/** The lines of namespaces that a database or its server has. The server is newer. */
export function* unitedNamespaces(
  ofDatabase: readonly PlanNamespace[],
  ofServer: readonly PlanNamespace[],
  kind: 'conflict' | 'remark',
): Generator<PlanLine> {
  const left = new Map(ofServer.map((space) => [space.id, space]))
  for (const space of ofDatabase) {
    const newer = left.get(space.id)
    left.delete(space.id)
    yield* newer === undefined ? onlyInDatabase(space, kind) : newerOf(space, newer, kind)
  }
  yield* left.values()
}

function onlyInDatabase(space: PlanNamespace, kind: PlanNote['kind']): PlanLine[] {
  const reason = 'the server does not list it, and may have deleted it; the plan has it'
  return [space, { kind, about: 'namespace', name: space.id, reason }]
}

/** Fields that a server does not show come from the database. */
function newerOf(space: PlanNamespace, { name, desc }: PlanNamespace, kind: PlanNote['kind']): PlanLine[] {
  const newer = { ...space, name: name || space.name, desc: desc || space.desc }
  if (newer.name === space.name && newer.desc === space.desc) return [space]
  const reason =
    'the database and the server have other names or descriptions; the plan has those of the server'
  return [newer, { kind, about: 'namespace', name: space.id, reason }]
}
