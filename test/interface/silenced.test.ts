/** A beat is no registration: what silence has removed comes back as it was registered, and as operators have set it. */
import { expect, test } from 'vitest'
import { Client, type Params, type Reply, serverForThisFile, unique, until } from './client.ts'

const WHERE = { ip: '10.5.1.1', port: 80 }
/** Silence removes it soon. */
const METADATA = {
  zone: 'a',
  'preserved.heart.beat.timeout': '1000',
  'preserved.ip.delete.timeout': '3000',
}
const FULL = { ...WHERE, weight: 5, metadata: JSON.stringify(METADATA) }

const waypost = serverForThisFile()
const at = (path: string): Client => new Client(`${waypost.server.url}${path}`)

type Beat = (serviceName: string, clusterName: string | undefined) => Promise<Reply>

const beats: Record<string, Beat> = {}
for (const [door, path] of Object.entries({ v1: '/nacos/v1', v2: '/nacos/v2', svc: '/svc/v1' }))
  for (const said of [{}, { weight: 1 }, { weight: null, metadata: null }, { weight: 1, metadata: {} }])
    beats[`${door}, ${JSON.stringify(said)}`] = (serviceName, cluster) => {
      const beat = { ...WHERE, ...said, ...(cluster === undefined ? {} : { cluster }) }
      return at(path).put('/ns/instance/beat', { serviceName, beat: JSON.stringify(beat) })
    }

const lightBeat: Beat = (serviceName, clusterName) =>
  waypost.nacos.put('/ns/instance/beat', { serviceName, clusterName, ...WHERE })
const registers = (serviceName: string, other: Params = {}): Promise<Reply> =>
  waypost.nacos.post('/ns/instance', { serviceName, ...FULL, ...other })
const disables = (serviceName: string, clusterName?: string): Promise<Reply> =>
  waypost.svc.put('/ns/instance', { serviceName, clusterName, ...WHERE, enabled: false })
const shown = async (serviceName: string) =>
  (await waypost.svc.get('/console/instances', { serviceName })).json().pageItems
const isGone = (serviceName: string) =>
  until(
    () => shown(serviceName),
    (found) => found.length === 0,
  )

test.for(Object.keys(beats))('a beat by %s brings it back as it was', { concurrent: true }, async (name) => {
  const cases = [
    { registered: undefined, named: undefined },
    { registered: 'c1', named: 'c1' },
    { registered: 'c1', named: undefined },
  ]
  await Promise.all(
    cases.map(async ({ registered, named }) => {
      const serviceName = unique('svc')
      await registers(serviceName, { clusterName: registered })
      await disables(serviceName, registered)
      await isGone(serviceName)
      expect((await beats[name]!(serviceName, named)).status).toBe(200)
      expect(await shown(serviceName)).toMatchObject([
        {
          clusterName: registered ?? 'DEFAULT',
          weight: 5,
          enabled: false,
          metadata: METADATA,
          removedAfterMs: 3_000,
          overrides: [{ field: 'enabled', value: 'false', application: 'true', fromIp: '127.0.0.1' }],
          disabled: { cause: 'operator', fromIp: '127.0.0.1' },
        },
      ])
      const explained = (await waypost.svc.get('/console/explain', { serviceName })).json().pageItems
      expect(explained).toMatchObject([{ came: { cause: 'memory' }, overrides: [{ field: 'enabled' }] }])
      const { entries } = (await waypost.svc.get('/console/timeline', { serviceName })).json()
      expect(entries).toContainEqual(expect.objectContaining({ kind: 'registered', cause: 'memory' }))
    }),
  )
})

const removals = {
  v1: '/nacos/v1/ns/instance',
  v2: '/nacos/v2/ns/instance',
  v3: '/nacos/v3/client/ns/instance',
  svc: '/svc/v1/ns/instance',
}
test.for(Object.entries(removals))(
  'after a goodbye by %s after the silence, beats register nothing',
  { concurrent: true },
  async ([, path]) => {
    await Promise.all(
      [undefined, 'c1'].map(async (clusterName) => {
        const serviceName = unique('svc')
        await registers(serviceName, { clusterName })
        await isGone(serviceName)
        expect((await at(path).delete('', { serviceName, ...WHERE })).status).toBe(200)
        for (const beat of [beats['v1, {"weight":1}']!, lightBeat])
          expect((await beat(serviceName, undefined)).json()).toMatchObject({ code: 10_200 })
        expect(await shown(serviceName)).toEqual([])
      }),
    )
  },
)

test('lifts all that operators have set of an instance, at once', async () => {
  const serviceName = unique('svc')
  await waypost.nacos.post('/ns/instance', { serviceName, ...WHERE, weight: 3, metadata: '{"zone":"a"}' })
  await waypost.nacos.put('/ns/instance', {
    serviceName,
    ...WHERE,
    weight: 0,
    enabled: false,
    metadata: 'zone=b,x=1',
  })
  const fields = [
    { field: 'weight', value: '0', application: '3' },
    { field: 'enabled', value: 'false', application: 'true' },
    { field: 'metadata.zone', value: 'b', application: 'a' },
    { field: 'metadata.x', value: '1', application: null },
  ].map((one) => ({ ...one, atMs: expect.any(Number), user: null, fromIp: '127.0.0.1' }))
  expect((await shown(serviceName))[0].overrides).toEqual(fields)
  const instances = JSON.stringify([{ ...WHERE, ephemeral: true }])
  const lift = (other: Params) =>
    waypost.svc.put('/ns/instance/batch', { serviceName, instances, lift: true, ...other })
  expect((await lift({ weight: 1 })).json()).toMatchObject({ parameter: 'lift' })
  expect((await lift({})).json()).toMatchObject({ updated: [expect.stringContaining(WHERE.ip)] })
  expect(await shown(serviceName)).toMatchObject([
    { weight: 3, enabled: true, metadata: { zone: 'a' }, overrides: [], remembered: {}, disabled: null },
  ])
  const { entries } = (await waypost.svc.get('/console/timeline', { serviceName })).json()
  const asked = { cause: 'operator', fromIp: '127.0.0.1' }
  expect(entries).toContainEqual(expect.objectContaining({ ...asked, kind: 'weight', text: '0 → 3' }))
  expect(entries).toContainEqual(expect.objectContaining({ ...asked, kind: 'lifted' }))
})
