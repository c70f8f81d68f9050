import { expect, test } from 'vitest'
import { probedNetworks } from './address-guard.ts'
import { NameQueries, resolveHost } from './resolve-host.ts'

const answering =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

test('an IP address is not resolved', async () => {
  const mustNotAsk = (): never => {
    throw new Error('asked')
  }
  expect(await resolveHost('127.0.0.1', mustNotAsk)).toEqual({
    kind: 'allowed',
    addresses: [{ address: '127.0.0.1', family: 4 }],
  })
})

test('a name is refused if one of its addresses is link-local', async () => {
  expect(await resolveHost('sneaky.example', answering('10.0.0.1', '169.254.169.254'))).toEqual({
    kind: 'refused',
    reason: '169.254.169.254 is never probed: link-local',
  })
  expect(await resolveHost('sneaky.example', answering('::ffff:169.254.169.254'))).toMatchObject({
    kind: 'refused',
  })
})

test('a number that the system resolver accepts as an address is checked after resolution', async () => {
  expect(await resolveHost('2852039166')).not.toMatchObject({ kind: 'allowed' })
  expect(await resolveHost('0xa9fea9fe')).not.toMatchObject({ kind: 'allowed' })
})

test('a name that cannot be resolved has the reason in its result', async () => {
  const failing = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
  expect(await resolveHost('nowhere.example', failing)).toEqual({
    kind: 'unresolved',
    reason: 'cannot resolve nowhere.example: ENOTFOUND',
  })
  expect(await resolveHost('empty.example', answering())).toMatchObject({ kind: 'unresolved' })
})

test('localhost may be probed', async () => {
  expect(await resolveHost('localhost')).toMatchObject({ kind: 'allowed' })
})

test('a name is refused if one of its addresses is outside of the networks that may be probed', async () => {
  const networks = probedNetworks(['10.0.0.0/8'])
  const both = answering('10.0.0.1', '192.0.2.1')
  expect(await resolveHost('wide.example', both, networks)).toEqual({
    kind: 'refused',
    reason: '192.0.2.1 is not probed: it is outside of probe-networks',
  })
  expect(await resolveHost('inside.example', answering('10.0.0.1'), networks)).toMatchObject({
    kind: 'allowed',
  })
  expect(await resolveHost('127.0.0.1', undefined, networks)).toMatchObject({ kind: 'refused' })
  expect(await resolveHost('::ffff:169.254.1.1', undefined, probedNetworks(['0.0.0.0/0']))).toMatchObject({
    kind: 'refused',
  })
})

test('names of one owner that no server answers leave a place for names of others', async () => {
  const asked: string[] = []
  const queries = new NameQueries((host) => {
    asked.push(host)
    return host.startsWith('dead') ? new Promise(() => undefined) : Promise.resolve([])
  })
  for (let count = 0; count < 1_500; count++)
    void queries
      .of('one')(`dead${count}`)
      .catch(() => undefined)
  for (const host of ['alive1', 'alive2']) await queries.of('other')(host)
  expect(asked).toEqual(['dead0', 'alive1', 'alive2'])
})

test('names that were slow leave both places to others, until they answer', async () => {
  let nowMs = 0
  const open = new Map<string, () => void>()
  const asked: string[] = []
  const queries = new NameQueries(
    (host) =>
      new Promise((resolve) => {
        asked.push(host)
        open.set(host, () => resolve([]))
      }),
    () => nowMs,
  )
  const ask = (owner: string, host: string) => queries.of(owner)(host)
  const answer = async (afterMs: number, ...queriesOf: [string, string][]) => {
    const all = queriesOf.map(([owner, host]) => ask(owner, host))
    nowMs += afterMs
    for (const [, host] of queriesOf) open.get(host)!()
    await Promise.all(all)
  }
  await answer(5_000, ['one', 'dead1'], ['two', 'dead2'])
  const slow = [ask('one', 'dead1'), ask('two', 'dead2')]
  await answer(1, ['one', 'alive1'], ['two', 'alive2'])
  expect(asked.slice(2)).toEqual(['dead1', 'alive1', 'alive2'])
  open.get('dead1')!()
  await slow[0]
  open.get('dead2')!()
  await slow[1]
  asked.length = 0
  const again = [ask('one', 'dead1'), ask('two', 'dead2')]
  expect(asked).toEqual(['dead1', 'dead2'])
  for (const host of ['dead1', 'dead2']) open.get(host)!()
  await Promise.all(again)
})

test('a name is asked for once at a time', async () => {
  let asked = 0
  const queries = new NameQueries(async () => (asked++, []))
  await Promise.all([1, 2, 3].map(() => queries.of('one')('host')))
  expect(asked).toBe(1)
  await queries.of('one')('host')
  expect(asked).toBe(2)
})
