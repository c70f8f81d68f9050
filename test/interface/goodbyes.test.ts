/** A deregistration counts: a beat that comes after it does not bring the instance back. */
import { describe, expect, test } from 'vitest'
import { Client, type Params, type Reply, serverForThisFile, unique } from './client.ts'

const WHERE = { ip: '10.5.0.1', port: 80 }

const waypost = serverForThisFile()
const at = (prefix: string): Client => new Client(`${waypost.server.url}${prefix}`)
/** Where a client beats and registers, and where it or an operator deregisters. */
const PREFIXES = { v1: '/nacos/v1/ns/instance', v2: '/nacos/v2/ns/instance', svc: '/svc/v1/ns/instance' }

type Door = (serviceName: string, clusterName: string | undefined) => Promise<Reply>

const fullBeat = (clusterName: string | undefined): string =>
  JSON.stringify({ ...WHERE, ...(clusterName === undefined ? {} : { cluster: clusterName }) })

const beats: Record<string, Door> = {
  'v3, light': (serviceName, clusterName) =>
    at('/nacos/v3').post('/client/ns/instance', { serviceName, clusterName, ...WHERE, heartBeat: true }),
}
const removals: Record<string, Door> = {
  v3: (serviceName, clusterName) =>
    at('/nacos/v3').delete('/client/ns/instance', { serviceName, clusterName, ...WHERE }),
}
for (const [name, path] of Object.entries(PREFIXES)) {
  const put = (form: Params) => at(path).put('/beat', form)
  beats[`${name}, full`] = (serviceName, clusterName) => put({ serviceName, beat: fullBeat(clusterName) })
  beats[`${name}, light`] = (serviceName, clusterName) => put({ serviceName, clusterName, ...WHERE })
  removals[name] = (serviceName, clusterName) => at(path).delete('', { serviceName, clusterName, ...WHERE })
}

const registers: Door = (serviceName, clusterName) =>
  waypost.nacos.post('/ns/instance', { serviceName, clusterName, ...WHERE })

const hostsOf = async (serviceName: string) =>
  (await waypost.nacos.get('/ns/instance/list', { serviceName })).json().hosts

describe.for(Object.keys(removals))('after a deregistration by %s', (removal) => {
  test.for(Object.keys(beats))('a beat by %s is answered as known, and registers nothing', async (name) => {
    for (const [clusterName, named] of [
      [undefined, undefined],
      ['c1', 'c1'],
      ['c1', undefined],
    ]) {
      const serviceName = unique('svc')
      await registers(serviceName, clusterName)
      const known = await beats[name]!(serviceName, named)
      await removals[removal]!(serviceName, clusterName)
      const late = await beats[name]!(serviceName, named)
      expect([late.status, late.text]).toEqual([known.status, known.text])
      expect(await hostsOf(serviceName)).toEqual([])
    }
  })
})

test('the timeline says that a late beat was ignored', async () => {
  const serviceName = unique('svc')
  await registers(serviceName, undefined)
  await removals['v1']!(serviceName, undefined)
  for (const _twice of [1, 2]) await beats['v1, full']!(serviceName, undefined)
  const { entries } = (await waypost.svc.get('/console/timeline', { serviceName })).json()
  const kinds = entries.map(({ kind, cause }: Record<string, string>) => `${kind} by ${cause}`)
  expect(kinds.toSorted()).toEqual([
    'late-beat by deregistration',
    'registered by registration',
    'removed by deregistration',
  ])
})

test('a registration lifts it at once: POST, PUT, and a connection is not asked', async () => {
  const serviceName = unique('svc')
  const puts: Door = (name) => waypost.nacos.put('/ns/instance', { serviceName: name, ...WHERE, weight: 2 })
  for (const register of [registers, puts]) {
    await register(serviceName, undefined)
    await removals['v1']!(serviceName, undefined)
    await register(serviceName, undefined)
    expect(await hostsOf(serviceName)).toHaveLength(1)
    expect((await beats['v1, light']!(serviceName, undefined)).json()).toMatchObject({ code: 10_200 })
    await removals['v1']!(serviceName, undefined)
  }
})
