import { wholeText } from '../../src/core/text/long-text.ts'
import type { ModelRecord, ModelStore } from '../../src/core/engine/model-store.test-support.ts'
import type { ServiceKey } from '../../src/core/naming/state/service.ts'
import { STORED_KINDS } from '../../src/core/engine/stored-kinds.ts'
import type { State } from '../../src/core/engine/state.ts'
import { InstanceListAnswers } from '../../src/protocols/answers/instance-list.ts'
import { itemObject, keyOf, knownValue } from './known-values.ts'
import { ITEMS } from './operations.ts'
import { type ItemValue, type Reference, textOf } from './reference.ts'
import type { SimulatedServer } from './simulated-server.ts'
import { violation } from './violation.ts'

/** All servers know everything: they must know the same, in the same order, and what the reference knows. */
export function checkEnd(store: ModelStore, reference: Reference, servers: readonly SimulatedServer[]): void {
  for (const { name, state } of servers)
    for (const object of reference.objects) {
      const known = textOf(knownValue(state, object))
      const right = textOf(reference.value(object))
      if (known !== right) violation(`at the end, ${name} knows ${object} as ${known}, but it is ${right}`)
    }
  checkEqualServers(servers)
  for (const dataId of ITEMS) checkHistory(store, reference, dataId)
}

/** All servers list the same in the same order, and answer the same bytes. */
export function checkEqualServers(servers: readonly SimulatedServer[]): void {
  checkEqual(servers, (server) => orders(server.state))
  checkEqual(servers, (server) => withoutTimes(listAnswers(server.state)))
  checkEqual(
    servers.filter(({ hasLoaded }) => !hasLoaded),
    (server) => listAnswers(server.state),
  )
}

function checkEqual(
  servers: readonly SimulatedServer[],
  textOfServer: (server: SimulatedServer) => string,
): void {
  const [first, ...others] = servers
  if (first === undefined) return
  const text = textOfServer(first)
  for (const other of others) {
    const differing = textOfServer(other)
    if (differing !== text) violation(`${first.name} and ${other.name} differ:\n${text}\n${differing}`)
  }
}

/** Everything that a server lists, in its order. */
function orders(state: State): string {
  const namespaces = ['public', 'dev']
  const items = namespaces.map((namespaceId) => [...state.configs.inNamespace(namespaceId)])
  const byId = Array.from(state.configs.all(), ({ origin }) => origin.id).sort()
  const records = STORED_KINDS.map((kind) => [kind.name, ...state.records(kind)])
  const services = serviceKeys(state).map((key) => {
    // A serial is a number of one server.
    const { serial: _serial, ...service } = state.service(key)!
    return [service, ...Array.from(state.instances(key), ({ record }) => ({ ...record, serial: 0 }))]
  })
  return JSON.stringify({ items, byId, records, services })
}

function listAnswers(state: State): string {
  const answers = new InstanceListAnswers(state, { now: () => 0, soon: () => {} })
  const query = { format: 'svc', clustersText: '', clusters: [], healthyOnly: false } as const
  const asked = serviceKeys(state).map((key) =>
    wholeText(answers.answer({ ...query, key, consumerIp: undefined, cacheMillis: 3_000 })!).toString(),
  )
  return asked.join('\n')
}

function serviceKeys(state: State): ServiceKey[] {
  return state.services
    .namespaces()
    .flatMap((namespaceId) =>
      state.services.names(namespaceId, undefined).map((groupedName) => ({ namespaceId, groupedName })),
    )
}

/** A server that has just loaded may have later times. */
function withoutTimes(answers: string): string {
  return answers.replaceAll(/"lastRefTime":\d+/g, '')
}

/** Each write of an item has one record, in the order of the writes; ids rise in it, so that pages show this order. */
function checkHistory(store: ModelStore, reference: Reference, dataId: string): void {
  const key = keyOf(dataId)
  const records = store.history(key.text)
  const expected = expectedHistory(reference.since(itemObject(key), 1) as ItemValue[])
  const shown = records.map(({ op, content }) => `${op} ${content}`)
  if (textOf(shown) !== textOf(expected))
    violation(`the history of ${dataId} is ${shown.join(', ')}, but ${expected.join(', ')} was written`)
  const unordered = records.findIndex((record, index) => !follows(record, records[index - 1]))
  if (unordered >= 0) violation(`the ids of the history of ${dataId} do not rise: ${textOf(records)}`)
}

function follows(record: ModelRecord, before: ModelRecord | undefined): boolean {
  return before === undefined || (record.id > before.id && record.revision >= before.revision)
}

/** An insert shows its text, an update the text before it, a delete the deleted text. */
function expectedHistory(values: readonly ItemValue[]): string[] {
  return values.slice(1).map((value, index) => {
    const before = values[index] ?? null
    if (before === null) return `I ${value?.content}`
    return value === null ? `D ${before.content}` : `U ${before.content}`
  })
}
