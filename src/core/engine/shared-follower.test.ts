import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Change } from '../decisions/changes.ts'
import { MEMBER } from '../cluster/members/member-records.ts'
import { configKey } from '../config/state/config-item.ts'
import { deleteConfig, publishConfig } from '../config/commands/publish-config.ts'
import { address, at, publishing, registration } from '../core.test-support.ts'
import type { Command } from '../decisions/decision.ts'
import { Draft } from '../decisions/draft.ts'
import { Follower } from './follower.ts'
import { deregisterInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { deleteService } from '../naming/commands/service-commands.ts'
import { NAMESPACE } from '../namespaces/namespace.ts'
import type { Snapshot, StoredInstance } from './ports.ts'
import { changedThing, readText } from '../decisions/reads.ts'
import { type RecordKind, recordRemoved, recordSaved } from '../records/record-kind.ts'
import { SharedFollower } from './shared-follower.ts'
import { Stamps } from '../decisions/stamps.ts'
import type { State } from './state.ts'

const NAMES = ['a', 'b', 'c'] as const
const REMOVALS: readonly Change['kind'][] = [
  'config-deleted',
  'service-deleted',
  'instance-removed',
  'record-removed',
]
const KINDS: readonly RecordKind<unknown>[] = [NAMESPACE, MEMBER]

/** Makes a revision of the store: the changes of a command on one server. */
type RevisionMaker = (state: State, stamp: number) => readonly Change[]

/** A server that follows the store. */
class Server {
  readonly #stamps = new Stamps()
  readonly follower: Follower
  readonly following: SharedFollower
  readonly published: Change[] = []

  constructor(snapshot: Snapshot) {
    const clock = () => ({ ...at(0), stamp: this.#stamps.next(at(0).wallMs) })
    const feed = { publishChanges: (changes: readonly Change[]) => this.published.push(...changes) }
    this.follower = Follower.load(snapshot, { clock, stamps: this.#stamps, feed })
    this.following = new SharedFollower(this.follower, this.#stamps)
  }

  /** Everything that is listed, in the order in which it is. */
  get shown() {
    const { state } = this.follower
    return {
      items: [...state.configs.inNamespace('public')].map(({ key, origin, historyId }) => [
        key.text,
        origin.id,
        historyId,
      ]),
      services: Array.from(state.services.all(), ({ service }) => service.key.groupedName).sort(),
      instances: NAMES.map((name) =>
        [...state.instances(serviceKey(name))].map(({ record }) => record.address.port),
      ),
      records: KINDS.map((kind) => [...state.records(kind)]),
    }
  }
}

/** A store: all things with the revision that created them. */
class Kept {
  readonly #things = new Map<string, { created: number; change: Change }>()
  revision = 0

  write(changes: readonly Change[]): void {
    this.revision++
    for (const change of changes) {
      const text = readText(changedThing(change))
      const created = this.#things.get(text)?.created ?? this.revision
      if (REMOVALS.includes(change.kind)) this.#things.delete(text)
      else this.#things.set(text, { created, change })
    }
  }

  get snapshot(): Snapshot {
    const changes = [...this.#things.values()]
      .sort((a, b) => a.created - b.created)
      .map(({ change }) => change)
    return {
      configs: changes.flatMap((change) => (change.kind === 'config-published' ? [change.item] : [])),
      services: changes
        .flatMap((change) => (change.kind === 'service-saved' ? [change.service] : []))
        .map(numbered),
      instances: changes
        .flatMap((change): StoredInstance[] =>
          change.kind === 'instance-saved' ? [{ ...change, healthy: change.healthy ?? true }] : [],
        )
        .map((one, index) => ({ ...one, record: { ...one.record, serial: 100 + index } })),
      records: changes.flatMap((change) => (change.kind === 'record-saved' ? [change] : [])),
      revision: this.revision,
      largestStamp: at(0).stamp,
    }
  }
}

function numbered<T extends { serial: number }>(one: T, index: number): T {
  return { ...one, serial: index + 1 }
}

const serviceKey = (name: string) => ({ namespaceId: 'public', groupedName: `G@@${name}` })
const decided =
  (command: Command<unknown>): RevisionMaker =>
  (state, stamp) => {
    try {
      return command.decide(new Draft(state), { ...at(0), stamp }).changes
    } catch {
      // It is refused: there is nothing to delete.
      return []
    }
  }

const name = fc.constantFrom(...NAMES)
const port = fc.integer({ min: 1, max: 3 })
const item = (dataId: string) => configKey('public', 'G', dataId)
const step: fc.Arbitrary<RevisionMaker> = fc.oneof(
  fc
    .tuple(name, fc.string())
    .map(([one, md5]) => decided(publishConfig(publishing(one, { key: item(one), md5 })))),
  name.map((one) => decided(deleteConfig(item(one), { ip: '', user: null }))),
  fc
    .tuple(name, port)
    .map(([one, p]) =>
      decided(registerInstance(registration({ serviceKey: serviceKey(one), address: address({ port: p }) }))),
    ),
  fc.tuple(name, port).map(([one, p]) =>
    decided(
      deregisterInstance({
        serviceKey: serviceKey(one),
        address: address({ port: p }),
        ephemeral: undefined,
      }),
    ),
  ),
  name.map((one) => decided(deleteService(serviceKey(one)))),
  fc.tuple(fc.constantFrom(...KINDS), name).map(([kind, id]): RevisionMaker => (_state, stamp) => [
    recordSaved(kind, { id, value: { id }, stamp }),
  ]),
  fc.tuple(fc.constantFrom(...KINDS), name).map(([kind, id]): RevisionMaker => (_state, stamp) => [
    recordRemoved(kind, id, stamp),
  ]),
)

const steps = fc.array(step, { maxLength: 40, size: 'max' })

test('a server that loads everything again has the same state and order as a server that has followed', () => {
  fc.assert(
    fc.property(steps, steps, (before, meanwhile) => {
      const kept = new Kept()
      const one = new Server(kept.snapshot)
      const away = new Server(kept.snapshot)
      const stamps = new Stamps()
      const write = (steps: readonly RevisionMaker[], servers: readonly Server[]) => {
        for (const decide of steps) {
          const changes = decide(one.follower.state, stamps.next(at(0).wallMs)).map(whole)
          kept.write(changes)
          for (const { following } of servers) following.applied({ revision: kept.revision, changes })
        }
      }
      write(before, [one, away])
      write(meanwhile, [one])
      away.following.reloaded(kept.snapshot)
      expect(away.shown).toEqual(one.shown)
      expect(new Server(kept.snapshot).shown).toEqual(one.shown)
      expect(away.follower.revision).toBe(kept.revision)
      // It continues from there.
      write(before, [one, away])
      expect(away.shown).toEqual(one.shown)
    }),
    { numRuns: 300 },
  )
})

/** A shared store keeps instances whole. */
function whole(change: Change): Change {
  return change.kind === 'instance-saved' ? { ...change, healthy: change.healthy ?? true } : change
}

test('a store that was restored from a backup may be at an earlier revision', () => {
  const kept = new Kept()
  const server = new Server(kept.snapshot)
  server.following.applied({
    revision: 9,
    changes: [recordSaved(NAMESPACE, { id: 'a', value: { id: 'a', showName: '', desc: '' }, stamp: 1 })],
  })
  kept.write([])
  server.following.reloaded(kept.snapshot)
  expect(server.follower.revision).toBe(1)
  expect(server.shown.records[0]).toEqual([])
})
