import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { expect } from 'vitest'
import type { ItemName } from './driven-client.ts'
import type { Ground, Step } from './step.ts'

const AWKWARD =
  'plain=1\r\nplus=a+b\n%percent=100%\n%41&x=y;z\t"quoted" \\back\u00fcmlaut 日本語 😀\n\u2028 end\n\n'

/** Apart from what other steps publish: a library may overlook one of many changes at once. */
const LISTENER = 'listener'

/** The steps of a user with configurations. */
export const CONFIG_STEPS: readonly Step[] = [
  {
    title: 'config: published content is read back, byte for byte',
    run: async ({ client, run }) => {
      const [writer, reader] = [await client('a'), await client('b')]
      for (const content of ['a: 1', AWKWARD]) {
        expect(await writer.publish({ dataId: `read-${run}` }, content)).toBe(true)
        expect(await reader.read({ dataId: `read-${run}` })).toBe(content)
      }
    },
  },
  {
    title: 'config: a large content comes back',
    run: async ({ client, run }) => {
      const large = `${AWKWARD}${'ü+%'.repeat(100_000)}`
      const one = await client('a')
      expect(await one.publish({ dataId: `large-${run}` }, large)).toBe(true)
      expect((await one.read({ dataId: `large-${run}` })) === large).toBe(true)
    },
  },
  {
    title: 'config: what does not exist is absent',
    run: async ({ client, run }) => {
      expect(await (await client('a')).read({ dataId: `missing-${run}` })).toBeNull()
    },
  },
  {
    title: 'config: a removed item is absent, and is removed again without harm',
    run: async ({ client, run }) => {
      const one = await client('a')
      const item = { dataId: `removed-${run}` }
      await one.publish(item, 'x')
      expect(await one.remove(item)).toBe(true)
      expect(await one.read(item)).toBeNull()
      expect(await one.remove(item)).toBe(true)
    },
  },
  {
    title: 'config: a publish with an old md5 changes nothing',
    run: async ({ client, run }) => {
      const one = await client('a')
      const item = { dataId: `compared-${run}` }
      await one.publish(item, 'first')
      expect(await one.publish(item, 'second', md5Of('first'))).toBe(true)
      expect(await one.publish(item, 'third', md5Of('first')).catch(() => false)).toBe(false)
      expect(await one.read(item)).toBe('second')
    },
  },
  {
    title: 'config: namespaces and groups are separate',
    run: async ({ client, run }) => {
      const [one, other, named] = [
        await client('a'),
        await client('a', 'other-namespace'),
        await client('a', 'public'),
      ]
      const item = { dataId: `apart-${run}` }
      await one.publish(item, 'in public')
      expect(await other.read(item)).toBeNull()
      await other.publish(item, 'in other')
      expect(await named.read(item)).toBe('in public')
      expect(await one.read({ ...item, group: 'G2' })).toBeNull()
    },
  },
  {
    title: 'config: a listener hears what others publish',
    run: (ground) => hears(ground, ''),
  },
  {
    title: 'config: a listener hears the removal, and what is published later',
    run: async ({ client, run }) => {
      const [listener, publisher] = [await client(LISTENER), await client('b')]
      const item = { dataId: `gone-${run}` }
      await publisher.publish(item, 'first')
      const watch = await listener.listen(item)
      await publisher.publish(item, 'second')
      await watch.until('the change', (seen) => seen === 'second')
      await publisher.remove(item)
      await watch.until('the removal', (seen) => seen === '')
      await publisher.publish(item, 'again')
      await watch.until('the return', (seen) => seen === 'again')
    },
  },
  {
    title: 'config: a listener in a namespace hears what others publish',
    run: (ground) => hears(ground, 'watched-namespace'),
  },
  {
    title: 'config: a listener that has left hears nothing more',
    run: async ({ client, ask, run }) => {
      const item = { dataId: `left-${run}` }
      await publishOverHttp(ask, item, 'first')
      const [leaver, stayer] = [await client('leaver'), await client('stayer')]
      const [left, stayed] = [await leaver.listen(item), await stayer.listen(item)]
      await publishOverHttp(ask, item, 'second')
      await Promise.all([left, stayed].map((watch) => watch.until('the second', (seen) => seen === 'second')))
      await leaver.unlisten(item)
      await publishOverHttp(ask, item, 'third')
      await stayed.until('the third', (seen) => seen === 'third')
      expect(left.heard.at(-1)).toBe('second')
    },
  },
  {
    title: 'config: a gray version is read and heard by whom it is for, until it ends',
    run: async ({ client, ask, run }) => {
      const item = { dataId: `gray-${run}`, group: 'DEFAULT_GROUP' }
      await publishOverHttp(ask, item, 'formal')
      const one = await client(LISTENER)
      const watch = await one.listen(item)
      // Over gRPC a library says an address of the machine.
      const rule = { grayType: 'beta', grayMatchRuleExp: ownAddresses().join(',') }
      await ask('POST', '/svc/v1/cs/configs/gray', { ...item, content: 'gray', ...rule })
      await watch.until('the gray version', (seen) => seen === 'gray')
      expect(await one.read(item)).toBe('gray')
      const others = { grayName: 'beta', grayMatchRuleExp: '10.255.255.254' }
      await ask('PUT', '/svc/v1/cs/configs/gray', { ...item, ...others })
      await watch.until('the formal version', (seen) => seen === 'formal')
      const all = { grayName: 'all', grayType: 'percent', grayMatchRuleExp: '100' }
      await ask('POST', '/svc/v1/cs/configs/gray', { ...item, content: 'for all', ...all })
      await watch.until('the share of 100 percent', (seen) => seen === 'for all')
      await ask('POST', '/svc/v1/cs/configs/gray/promote', { ...item, grayName: 'all' })
      expect(await one.read(item)).toBe('for all')
    },
  },
]

function ownAddresses(): string[] {
  const found = Object.values(networkInterfaces()).flatMap((of) => of ?? [])
  return ['127.0.0.1', ...found.filter(({ family }) => family === 'IPv4').map(({ address }) => address)]
}

/** Publishes an item of the default group under `/svc/v1`. */
export async function publishOverHttp(ask: Ground['ask'], item: ItemName, content: string): Promise<void> {
  const { dataId, group = 'DEFAULT_GROUP' } = item
  expect(await ask('POST', '/svc/v1/cs/configs', { dataId, group, content })).toBe('true')
}

async function hears({ client, run }: Ground, namespace: string): Promise<void> {
  const [listener, publisher] = [await client(LISTENER, namespace), await client('b', namespace)]
  const item = { dataId: `heard-${run}` }
  await publisher.publish(item, 'first')
  const watch = await listener.listen(item)
  for (const content of ['second', AWKWARD]) {
    await publisher.publish(item, content)
    await watch.until('the change', (seen) => seen === content)
  }
}

function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
