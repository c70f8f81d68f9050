import { type Change, NO_SERIAL } from '../decisions/changes.ts'
import { changedThing, type Read, readText } from '../decisions/reads.ts'
import type { View } from '../decisions/view.ts'
import type { ChangeGroup } from './ports.ts'

type Known = Pick<View, 'service' | 'instance'>

/**
 * The numbers that this server gives its services and instances, in the order in which they are created. Decisions
 * leave them open. The engine gives them when it applies changes, or before it sends them to its store.
 */
export class Serials {
  #last = 0

  /** No later serial is as small as this one. */
  see(serial: number): void {
    if (serial > this.#last) this.#last = serial
  }

  /** Decisions that are applied together to a state, with serials for new things. */
  ofDecisions(groups: readonly ChangeGroup[], state: Known): readonly ChangeGroup[] {
    if (!groups.some((changes) => changes.some(lacksSerial))) return groups
    const step = new StepSerials(state)
    return groups.map((changes) => changes.map((change) => this.#given(change, step)))
  }

  /** The changes of a shared store, with the serials of this server instead of another one. */
  ofFeed(changes: readonly Change[], state: Known): readonly Change[] {
    const step = new StepSerials(state)
    return changes.map((change) => this.#given(change, step))
  }

  #given(change: Change, step: StepSerials): Change {
    switch (change.kind) {
      case 'service-saved': {
        const serial = this.#ofSaved(change, step)
        const { service } = change
        return service.serial === serial ? change : { ...change, service: { ...service, serial } }
      }
      case 'instance-saved': {
        const { serviceKey, record } = change
        const serviceSerial = step.serialOf({ of: 'service', key: serviceKey, found: true })
        const serial = this.#ofSaved(change, step)
        if (record.serial === serial && change.serviceSerial === serviceSerial) return change
        return { ...change, serviceSerial, record: record.serial === serial ? record : { ...record, serial } }
      }
      case 'service-deleted':
      case 'instance-removed': {
        const thing = changedThing(change)
        const serial = step.serialOf(thing)
        step.set(thing, NO_SERIAL)
        return serial === NO_SERIAL || serial === change.serial ? change : { ...change, serial }
      }
      case 'instance-health-changed': {
        const serial = step.serialOf(changedThing(change))
        return serial === NO_SERIAL || serial === change.serial ? change : { ...change, serial }
      }
      case 'config-published':
      case 'config-deleted':
      case 'history-imported':
      case 'record-saved':
      case 'record-removed':
        return change
    }
  }

  /** The serial of a saved thing, or else the next serial. */
  #ofSaved(change: Change, step: StepSerials): number {
    const thing = changedThing(change)
    const known = step.serialOf(thing)
    if (known !== NO_SERIAL) return known
    this.#last++
    step.set(thing, this.#last)
    return this.#last
  }
}

/** The serials as the changes of one step leave them. */
class StepSerials {
  readonly #state: Known
  /** The things that the step has created or removed, by `readText`. */
  readonly #changed = new Map<string, number>()

  constructor(state: Known) {
    this.#state = state
  }

  serialOf(thing: Read): number {
    const changed = this.#changed.size === 0 ? undefined : this.#changed.get(readText(thing))
    if (changed !== undefined) return changed
    if (thing.of === 'service') return this.#state.service(thing.key)?.serial ?? NO_SERIAL
    if (thing.of !== 'instance') return NO_SERIAL
    return this.#state.instance(thing.serviceKey, thing.address)?.record.serial ?? NO_SERIAL
  }

  set(thing: Read, serial: number): void {
    this.#changed.set(readText(thing), serial)
  }
}

function lacksSerial(change: Change): boolean {
  if (change.kind === 'service-saved') return change.service.serial === NO_SERIAL
  if (change.kind === 'instance-saved')
    return change.record.serial === NO_SERIAL || change.serviceSerial === NO_SERIAL
  return 'serial' in change && change.serial === NO_SERIAL
}
