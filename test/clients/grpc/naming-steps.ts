import { expect } from 'vitest'
import type { SeenInstance } from './driven-client.ts'
import type { Ground, Step } from './step.ts'

/** The steps of a user with services and instances. */
export const NAMING_STEPS: readonly Step[] = [
  {
    title: 'naming: a registered instance is listed with all it says',
    run: async ({ client, run }) => {
      const service = { service: `fields-${run}` }
      const metadata = { zone: 'a', text: 'ü + 100% & "x"=1', line: 'a\nb' }
      await (await client('a')).register(service, { port: 8080, weight: 2.5, cluster: 'c1', metadata })
      const [seen, ...others] = await (await client('b')).instances(service)
      expect(others).toEqual([])
      expect(seen).toMatchObject({ ip: '127.0.0.1', port: 8080, weight: 2.5, cluster: 'c1' })
      expect(seen).toMatchObject({ healthy: true, enabled: true, ephemeral: true })
      expect(seen!.metadata).toMatchObject(metadata)
    },
  },
  {
    title: 'naming: an unknown service has no instances',
    run: async ({ client, run }) => {
      expect(await (await client('a')).instances({ service: `unknown-${run}` })).toEqual([])
    },
  },
  {
    title: 'naming: clusters select instances',
    run: async ({ client, ask, run }) => {
      const service = { service: `clusters-${run}` }
      const one = await client('a')
      await one.register(service, { port: 1, cluster: 'c1' })
      await registerOverHttp(ask, service.service, { port: 2, clusterName: 'c2' })
      await registerOverHttp(ask, service.service, { port: 3 })
      expect(portsOf(await one.instances(service))).toEqual([1, 2, 3])
      expect(portsOf(await one.instances(service, { clusters: ['c2'] }))).toEqual([2])
      expect(portsOf(await one.instances(service, { clusters: ['c1', 'DEFAULT'] }))).toEqual([1, 3])
    },
  },
  {
    title: 'naming: healthy and enabled instances are selected',
    run: async ({ client, ask, run }) => {
      const service = { service: `healthy-${run}` }
      const one = await client('a')
      await one.register(service, { port: 1 })
      await registerOverHttp(ask, service.service, { port: 2, ephemeral: false, healthy: false })
      await registerOverHttp(ask, service.service, { port: 3, enabled: false })
      expect(portsOf(await one.instances(service))).toEqual([1, 2])
      expect(portsOf(await one.instances(service, { healthyOnly: true }))).toEqual([1])
    },
  },
  {
    title: 'naming: groups and namespaces are separate',
    run: async ({ client, run }) => {
      const service = { service: `apart-${run}` }
      const grouped = { ...service, group: 'G2' }
      const [one, other] = [await client('a'), await client('a', 'other-namespace')]
      await one.register(service, { port: 1 })
      await one.register(grouped, { port: 2 })
      await other.register(service, { port: 3 })
      const reader = await client('b')
      expect(portsOf(await reader.instances(service))).toEqual([1])
      expect(portsOf(await reader.instances(grouped))).toEqual([2])
      expect(portsOf(await other.instances(service))).toEqual([3])
    },
  },
  {
    title: 'naming: a deregistered instance leaves the list',
    run: async ({ client, run }) => {
      const service = { service: `leaves-${run}` }
      const [one, other] = [await client('a'), await client('b')]
      await one.register(service, { port: 1 })
      await other.register(service, { port: 2 })
      expect(portsOf(await one.instances(service))).toEqual([1, 2])
      await other.deregister(service, { port: 2 })
      expect(portsOf(await one.instances(service))).toEqual([1])
      await one.deregister(service, { port: 1 })
      expect(portsOf(await one.instances(service))).toEqual([])
    },
  },
  {
    title: 'naming: a client that registers again replaces its instance',
    run: async ({ client, run }) => {
      const service = { service: `again-${run}` }
      const one = await client('a')
      await one.register(service, { port: 1, metadata: { version: '1' } })
      await one.register(service, { port: 1, metadata: { version: '2' }, weight: 3 })
      const [seen, ...others] = await one.instances(service)
      expect(others).toEqual([])
      expect([seen?.weight, seen?.metadata['version']]).toEqual([3, '2'])
    },
  },
  {
    title: 'naming: several instances are registered together',
    run: async ({ client, run }) => {
      const service = { service: `batch-${run}` }
      const [one, other] = [await client('a'), await client('b')]
      const watch = await other.subscribe(service)
      await one.registerAll(service, [
        { port: 1 },
        { port: 2, cluster: 'c2' },
        { port: 3, metadata: { zone: 'a' } },
      ])
      expect(portsOf(await other.instances(service))).toEqual([1, 2, 3])
      await watch.until('all three', (seen) => portsOf(seen).join() === '1,2,3')
    },
  },
  {
    title: 'naming: a persistent instance is registered and taken away',
    run: async ({ client, run }) => {
      const service = { service: `persistent-${run}` }
      const one = await client('a')
      await one.register(service, { port: 1, ephemeral: false })
      expect(await (await client('b')).instances(service)).toMatchObject([{ port: 1, ephemeral: false }])
      await one.deregister(service, { port: 1, ephemeral: false })
      expect(await one.instances(service)).toEqual([])
    },
  },
  {
    title: 'naming: a subscriber hears every change',
    run: async ({ client, ask, run }) => {
      const service = { service: `subscribed-${run}` }
      const [one, other] = [await client('a'), await client('b')]
      await one.register(service, { port: 1 })
      const watch = await other.subscribe(service)
      await watch.until('the first', (seen) => portsOf(seen).join() === '1')
      await registerOverHttp(ask, service.service, { port: 2 })
      await watch.until('the second', (seen) => portsOf(seen).join() === '1,2')
      await registerOverHttp(ask, service.service, { port: 2, weight: 4 })
      await watch.until('the weight', (seen) => seen.some(({ port, weight }) => port === 2 && weight === 4))
      await one.deregister(service, { port: 1 })
      await watch.until('the end of the first', (seen) => portsOf(seen).join() === '2')
    },
  },
  {
    title: 'naming: a subscriber of one cluster hears of that cluster',
    run: async ({ client, ask, run }) => {
      const service = { service: `one-cluster-${run}` }
      await registerOverHttp(ask, service.service, { port: 1, clusterName: 'c1' })
      const watch = await (await client('a')).subscribe(service, ['c1'])
      await watch.until('the first', (seen) => portsOf(seen).join() === '1')
      await registerOverHttp(ask, service.service, { port: 2, clusterName: 'c2' })
      await registerOverHttp(ask, service.service, { port: 3, clusterName: 'c1' })
      await watch.until('the third', (seen) => portsOf(seen).join() === '1,3')
      expect(watch.heard.flatMap(portsOf)).not.toContain(2)
    },
  },
  {
    title: 'naming: a subscriber that has left hears nothing more',
    run: async ({ client, ask, run }) => {
      const service = { service: `left-${run}` }
      await registerOverHttp(ask, service.service, { port: 1 })
      const [leaver, stayer] = [await client('a'), await client('b')]
      const [left, stayed] = [await leaver.subscribe(service), await stayer.subscribe(service)]
      await Promise.all([left, stayed].map((watch) => watch.until('the first', (seen) => seen.length === 1)))
      await leaver.unsubscribe(service)
      await registerOverHttp(ask, service.service, { port: 2 })
      await stayed.until('the second', (seen) => seen.length === 2)
      expect(left.heard.at(-1)).toHaveLength(1)
    },
  },
  {
    title: 'naming: the services of a group are listed page by page',
    run: async ({ client, run }) => {
      const [group, one] = [`LISTED-${run}`, await client('a')]
      const names = ['s1', 's2', 's3'].map((name) => `${name}-${run}`)
      for (const service of names) await one.register({ service, group }, { port: 1 })
      await one.register({ service: `other-${run}` }, { port: 1 })
      const all = await one.services(group, 1, 10)
      expect({ ...all, names: [...all.names].sort() }).toEqual({ count: 3, names })
      const page = await one.services(group, 2, 2)
      expect([page.count, page.names.length]).toEqual([3, 1])
    },
  },
  {
    title: 'naming: the instances of a client that ends are gone at once',
    run: async ({ client, run }) => {
      const service = { service: `ended-${run}` }
      const [ending, other] = [await client('ending'), await client('b')]
      await other.register(service, { port: 1 })
      await ending.register(service, { port: 2 })
      const watch = await other.subscribe(service)
      await watch.until('both', (seen) => portsOf(seen).join() === '1,2')
      await ending.close()
      await watch.until('the one that stays', (seen) => portsOf(seen).join() === '1', 10_000)
    },
  },
]

/** Registers an instance on the loopback address under `/svc/v1`. */
export async function registerOverHttp(
  ask: Ground['ask'],
  serviceName: string,
  fields: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  const form = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  expect(await ask('POST', '/svc/v1/ns/instance', { serviceName, ip: '127.0.0.1', ...form })).toBe('ok')
}

/** The ports of instances, in order. */
export function portsOf(instances: readonly SeenInstance[]): number[] {
  return instances.map(({ port }) => port).sort((one, other) => one - other)
}
