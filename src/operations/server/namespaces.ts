import { randomUUID } from 'node:crypto'
import type { Engine } from '../../core/engine/ports.ts'
import { PUBLIC_NAMESPACE, type Namespace, NAMESPACE } from '../../core/namespaces/namespace.ts'
import {
  createNamespace,
  deleteNamespace,
  type NewNames,
  updateNamespace,
} from '../../core/namespaces/namespace-commands.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import { configResource } from '../config/configs.ts'
import type { Guard, Resource } from '../guard.ts'
import type { Caller } from '../authorisation.ts'
import type { AuditedOutcome } from '../operation-audit.ts'

interface NamespaceParts {
  readonly guard: Guard
  readonly state: Pick<State, 'record' | 'records' | 'configs'>
  readonly engine: Pick<Engine, 'execute'>
}

/** A namespace of the list, with the number of configurations in it that the caller may read. */
export interface ListedNamespace extends Namespace {
  readonly configCount: number
  /** The one that always exists. */
  readonly isDefault: boolean
}

const READ = { action: 'read', resource: 'namespace' } as const
const WRITE = { action: 'write', resource: 'namespace' } as const
const PUBLIC: Namespace = { id: PUBLIC_NAMESPACE, showName: 'public', desc: 'Default Namespace' }

/** Makes the operations on namespaces. Their ids are canonical (see `toNamespaceId`). */
export function namespaceOperations(parts: NamespaceParts) {
  const { guard, state, engine } = parts
  const resources = ({ id }: { id: string }) => [namespaceResource(id)]
  return {
    /** Every namespace on the list: the default one, then the others in the order in which they were made. */
    list: guard.listing({
      permission: READ,
      scope: (): Resource => ({ kind: 'some-namespaces' }),
      find: () => all(state),
      resource: ({ id }) => namespaceResource(id),
      run: (allowed, _: object, caller) => allowed.map((namespace) => listed(parts, namespace, caller)),
    }),
    ...takenOperations(parts),
    /** One of the list; Refusal `namespace-not-found` for others. */
    read: guard.operation({
      permission: READ,
      resources,
      run: ({ id }, caller) => {
        const namespace = id === PUBLIC_NAMESPACE ? PUBLIC : state.record(NAMESPACE, id)
        if (namespace !== undefined) return listed(parts, namespace, caller)
        throw new Refusal('namespace-not-found', `namespaceId [ ${id} ] not exist`)
      },
    }),
    /** Makes a namespace, of a random id where the id is empty; false where the id is taken. */
    create: guard.operation({
      permission: WRITE,
      resources,
      run: ({ id, showName, desc }: Namespace) =>
        engine.execute(createNamespace({ id: id === '' ? randomUUID() : id, showName, desc })),
      audit: { operation: 'create namespace', cameTo: (isNew) => doneIf(isNew, 'id-taken') },
    }),
    /** Changes name and description of a namespace. */
    rename: guard.operation({
      permission: WRITE,
      resources,
      run: async (names: NewNames): Promise<Renamed> => {
        if (await engine.execute(updateNamespace(names))) return 'renamed'
        return names.id === PUBLIC_NAMESPACE ? 'fixed' : 'not-listed'
      },
      audit: { operation: 'rename namespace', cameTo: (renamed) => doneIf(renamed === 'renamed', renamed) },
    }),
    /** Takes a namespace off the list; its contents stay readable. */
    remove: guard.operation({
      permission: WRITE,
      resources,
      run: ({ id }) => engine.execute(deleteNamespace(id)),
      audit: { operation: 'delete namespace' },
    }),
  }
}

function takenOperations({ guard, state }: NamespaceParts) {
  return {
    /** Whether a namespace has this id; false for the empty id, which is never taken. */
    isTaken: guard.operation({
      permission: READ,
      resources: ({ id }: { readonly id: string }) => [namespaceResource(id)],
      run: ({ id }) => id === PUBLIC_NAMESPACE || (id !== '' && state.record(NAMESPACE, id) !== undefined),
    }),
    /** The ids of the namespaces with a shown name: more than one where people cannot tell them apart by it. */
    named: guard.listing({
      permission: READ,
      scope: (): Resource => ({ kind: 'some-namespaces' }),
      find: ({ showName }: { readonly showName: string }) =>
        all(state).filter((namespace) => namespace.showName === showName),
      resource: ({ id }) => namespaceResource(id),
      run: (allowed) => allowed.map(({ id }) => id),
    }),
  }
}

/** `fixed`: the default namespace keeps its name. */
export type Renamed = 'renamed' | 'not-listed' | 'fixed'

function all(state: NamespaceParts['state']): Namespace[] {
  return [PUBLIC, ...Array.from(state.records(NAMESPACE), ([, namespace]) => namespace)]
}

function doneIf(isDone: boolean, code: string): AuditedOutcome {
  return isDone ? { result: 'done' } : { result: 'refused', code }
}

function namespaceResource(namespaceId: string): Resource {
  return { kind: 'namespace', namespaceId }
}

function listed(parts: NamespaceParts, namespace: Namespace, caller: Caller): ListedNamespace {
  const { id, showName, desc } = namespace
  return {
    id,
    showName,
    desc,
    configCount: configCount(parts, id, caller),
    isDefault: id === PUBLIC_NAMESPACE,
  }
}

function configCount({ guard, state }: NamespaceParts, namespaceId: string, caller: Caller): number {
  const { configs } = state
  // Only an administrator may do that, and sees everything.
  if (guard.shows(caller, 'read', { kind: 'operator' })) return configs.countIn(namespaceId)
  let count = 0
  for (const { key } of configs.inNamespace(namespaceId))
    if (guard.shows(caller, 'read', configResource(key))) count++
  return count
}
