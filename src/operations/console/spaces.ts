import type { Engine } from '../../core/engine/ports.ts'
import {
  PUBLIC_NAMESPACE,
  NAMESPACE,
  NAMESPACE_LOOK,
  type NamespaceLook,
  type NewLook,
  PLAIN_LOOK,
  setNamespaceLook,
} from '../../core/namespaces/namespace.ts'
import type { State } from '../../core/engine/state.ts'
import { configResource } from '../config/configs.ts'
import type { Guard, Resource } from '../guard.ts'
import { askerOf, type Caller } from '../authorisation.ts'
import type { LongWalks, Turns } from '../../core/work/long-walks.ts'

interface SpaceParts {
  readonly guard: Guard
  readonly state: Pick<State, 'record' | 'records' | 'configs' | 'gray' | 'services'>
  readonly engine: Pick<Engine, 'execute'>
  readonly walks: LongWalks
}

/** A namespace as people see it. */
export interface Space extends NamespaceLook {
  readonly id: string
  /** The shown name; for an unlisted namespace its id. */
  readonly name: string
  readonly desc: string
  /** False for a namespace that is in use without being on the list. */
  readonly isListed: boolean
  /** Counts the items that the caller may read. */
  readonly configCount: number
  /** Whether it has any configurations, gray versions or services. */
  readonly isEmpty: boolean
}

/** Another look of a namespace. */
export interface LookRequest extends NewLook {
  readonly id: string
}

/** Makes the operations on namespaces for people. */
export function spaceOperations(parts: SpaceParts) {
  const { guard, state, engine } = parts
  return {
    /** All namespaces: listed ones first, then unlisted ones in use. */
    list: guard.listing({
      permission: { action: 'read', resource: 'namespace' },
      scope: (): Resource => ({ kind: 'some-namespaces' }),
      find: () => idsOf(state),
      resource: (id) => ({ kind: 'namespace', namespaceId: id }),
      run: (ids, _: object, caller): Promise<Space[]> =>
        parts.walks.run(askerOf(caller), async (turns) => {
          const spaces: Space[] = []
          const gray = new Set(state.gray.namespaces())
          for (const id of ids) {
            const space = spaceOf(state, id, await readableConfigs(parts, { id, caller, turns }))
            spaces.push({ ...space, isEmpty: space.isEmpty && !gray.has(id) })
          }
          return spaces
        }),
    }),
    /** Gives a namespace a colour, or protects it from people who mistake it for another. */
    setLook: guard.operation({
      permission: { action: 'write', resource: 'namespace' },
      audit: { operation: 'set look of namespace' },
      resources: ({ id }: LookRequest): Resource[] => [{ kind: 'namespace', namespaceId: id }],
      run: ({ id, ...look }) => engine.execute(setNamespaceLook(id, look)),
    }),
  }
}

/** The listed namespaces in the order of their creation, then unlisted namespaces that are in use. */
function idsOf(state: SpaceParts['state']): string[] {
  const listed = [PUBLIC_NAMESPACE, ...Array.from(state.records(NAMESPACE), ([id]) => id)]
  const inUse = [...state.configs.namespaces(), ...state.services.namespaces(), ...state.gray.namespaces()]
  return [...new Set([...listed, ...inUse.toSorted()])]
}

/** A count of the configurations in a namespace that a caller may read. */
interface Counting {
  readonly id: string
  readonly caller: Caller
  readonly turns: Turns
}

/**
 * How many configurations of a namespace the caller may read. A caller that sees everything is not checked
 * item by item.
 */
async function readableConfigs(
  { guard, state }: SpaceParts,
  { id, caller, turns }: Counting,
): Promise<number> {
  if (guard.shows(caller, 'read', { kind: 'operator' })) return state.configs.countIn(id)
  let count = 0
  for (const { key } of Array.from(state.configs.inNamespace(id))) {
    if (turns.isDue) await turns.turn()
    if (guard.shows(caller, 'read', configResource(key))) count++
  }
  return count
}

function spaceOf(state: SpaceParts['state'], id: string, configCount: number): Space {
  const listed = id === PUBLIC_NAMESPACE ? { showName: 'public', desc: '' } : state.record(NAMESPACE, id)
  return {
    id,
    name: listed?.showName ?? id,
    desc: listed?.desc ?? '',
    isListed: listed !== undefined,
    configCount,
    isEmpty: state.configs.countIn(id) === 0 && state.services.names(id, undefined).length === 0,
    ...(state.record(NAMESPACE_LOOK, id) ?? PLAIN_LOOK),
  }
}
