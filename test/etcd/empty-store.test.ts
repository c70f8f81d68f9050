/** Absence in etcd that a server does not believe (src/store/etcd/format/store-in-use.ts). */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { firstSecrets, secretsText } from '../../src/cluster/shared-secrets.ts'
import { SIGNING_KEY } from '../../src/core/access/access-records.ts'
import { createFirstKey, rotateKeys } from '../../src/core/access/signing-key-commands.ts'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { installationBytes, newInstallation } from '../../src/store/etcd/keys/installation-name.ts'
import { noticeBytes, type StoreEmpty } from '../../src/store/etcd/format/store-empty.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { publish, register, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const directory = temporaryDirectory('etcd-')
const here = etcdForThisFile({ directory })
const { put, remove } = here
const WAIT = { timeout: 30_000 }

const said: string[] = []
const loads: { before: number; after: number }[] = []

const watched = {
  missed: ({ fact }: StoreEmpty) => void said.push(`missed: ${fact}`),
  found: () => void said.push('found'),
  mended: (key: string) => void said.push(`mended: ${key}`),
}
const reloaded = (keys: { before: number; after: number }): void => void loads.push(keys)

async function start(
  prefix: string,
  port: number,
  waitForOthers = () => Promise.resolve(),
): Promise<StoreServer> {
  return here.start(prefix, port, { watched, reloaded, waitForOthers })
}

/** A running server with an item and an instance, which is a member. */
async function newStore(): Promise<{ prefix: string; server: StoreServer }> {
  const prefix = here.newPrefix()
  const server = await start(prefix, 1)
  await server.engine.execute(publish('kept'))
  await server.engine.execute(register(80))
  await server.membership.join(server.facts)
  return { prefix, server }
}

async function valueOf(key: string): Promise<string | undefined> {
  const [kv] = (await here.raw.range({ key })).kvs
  return kv && Buffer.from(kv.value).toString()
}

async function keysOf(prefix: string): Promise<string[]> {
  const { kvs } = await here.raw.range({ key: `${prefix}/`, end: prefixEnd(`${prefix}/`), keysOnly: true })
  return kvs.map(({ key }) => key.slice(prefix.length + 1))
}

/** It answers from memory, and refuses with this reason. */
async function isHeld(server: StoreServer, reason: string): Promise<void> {
  await expect.poll(() => server.store.missing?.fact, WAIT).toContain(reason)
  await expect.poll(() => server.membership.leaseUntilMs(), WAIT).toBe(0)
  expect([server.contentOf(), server.ports()]).toEqual(['kept', [80]])
  const refused = { code: 'store-unavailable', message: expect.stringContaining(reason) as string }
  for (const change of [publish('new'), register(81)])
    await expect(Promise.resolve(server.engine.execute<unknown>(change))).rejects.toMatchObject(refused)
  await expect(server.store.remember('x', 'y')).rejects.toMatchObject(refused)
  await expect(server.store.saveAudit([])).resolves.toBeUndefined()
  await expect(server.store.reads('x').history([], { pageNo: 1, pageSize: 1 })).rejects.toMatchObject(refused)
  expect(server.failures).toEqual([])
}

async function isBack(server: StoreServer): Promise<void> {
  await expect.poll(() => server.store.missing, WAIT).toBeUndefined()
  await expect.poll(() => server.membership.leaseUntilMs(), WAIT).toBeGreaterThan(0)
  await server.engine.execute(publish('changed'))
  expect(server.contentOf()).toBe('changed')
}

describeOnEtcd('an absence in etcd', 120_000, () => {
  afterEach(async () => {
    said.splice(0)
    loads.splice(0)
  })

  test('of everything at a first start waits for servers that know more', async () => {
    const prefix = here.newPrefix()
    const notice = noticeBytes({ installation: null, member: '10.0.0.1:8848', layout: '4' })
    const starting = start(prefix, 1, () => put(`${prefix}/k/store-empty`, notice))
    await expect(starting).rejects.toThrow('the server 10.0.0.1:8848 has seen data here')
    expect(await keysOf(prefix)).toEqual(['k/store-empty'])
  })

  test('of a name is ended by the elected server, once all members understand it', async () => {
    const prefix = here.newPrefix()
    await put(`${prefix}/format`, '4')
    const server = await start(prefix, 1)
    await server.membership.join(server.facts)
    const old = {
      ...server.facts,
      port: 9,
      versions: { ...server.facts.versions, layouts: { from: 1, to: 3 } },
    }
    await put(`${prefix}/p/127.0.0.1:9`, JSON.stringify({ value: old, stamp: 0 }))
    await server.store.care(true)
    await remove(`${prefix}/p/127.0.0.1:9`)
    await server.store.care(false)
    expect(await valueOf(`${prefix}/k/installation`)).toBeUndefined()
    await server.store.care(true)
    expect(await valueOf(`${prefix}/k/installation`)).toContain('"made":"start"')
    await remove(`${prefix}/`, prefixEnd(`${prefix}/`))
    await expect.poll(() => server.store.missing?.fact, WAIT).toContain('is missing')
  })

  test('of the layout alone is not believed, and ends when the key is there again', async () => {
    const { prefix, server } = await newStore()
    const layout = await valueOf(`${prefix}/format`)
    await remove(`${prefix}/format`)
    await isHeld(server, `${prefix}/format is missing`)
    await expect(start(prefix, 2)).rejects.toThrow('misses them')
    await put(`${prefix}/format`, layout!)
    await isBack(server)
    await expect.poll(() => valueOf(`${prefix}/k/store-empty`), WAIT).toBeUndefined()
    await start(prefix, 2)
    expect(said).toEqual([expect.stringContaining('missed'), 'found'])
  })

  test('of everything is not believed, and nothing is written', async () => {
    const { prefix, server } = await newStore()
    await remove(`${prefix}/`, prefixEnd(`${prefix}/`))
    await isHeld(server, 'has lost the data')
    expect(await keysOf(prefix)).toEqual(['k/store-empty'])
  })

  test('of everything is not believed where another installation was begun meanwhile', async () => {
    const { prefix, server } = await newStore()
    const begun = [
      { do: 'put', key: `${prefix}/format`, value: Buffer.from('4') },
      { do: 'put', key: `${prefix}/k/installation`, value: installationBytes(newInstallation('start')) },
    ] as const
    const others = ['b/', 'c/', 'e', 'h/', 'i/', 'k/peer', 'k/term', 'p/', 'q/', 'r/', 's/']
    const deletes = others.map((folder) => {
      const key = `${prefix}/${folder}`
      return { do: 'delete', key, end: prefixEnd(key) } as const
    })
    await here.raw.txn({ compare: [], success: [...deletes, ...begun] })
    await isHeld(server, 'etcd has the installation')
  })

  test.each(['removed', 'damaged'])(
    'of the %s name of the installation is mended by the servers',
    async (how) => {
      const { prefix, server } = await newStore()
      await server.store.agree('peer-secret', () => secretsText(firstSecrets()))
      const name = await valueOf(`${prefix}/k/installation`)
      if (how === 'removed') await remove(`${prefix}/k/installation`)
      else await put(`${prefix}/k/installation`, '{"id":"x"}')
      await start(prefix, 2)
      await server.engine.execute(publish('meanwhile'))
      await expect
        .poll(async () => {
          await server.store.care(false)
          return valueOf(`${prefix}/k/installation`)
        }, WAIT)
        .toBe(name)
      expect(said).toEqual([`mended: ${prefix}/k/installation`])
      await isBack(server)
    },
  )

  test('of the number of its own requests is said, and mended by the next request', async () => {
    const { prefix, server } = await newStore()
    await remove(`${prefix}/b/${server.id}`)
    await server.engine.execute(publish('next'))
    expect(said).toEqual([`mended: ${prefix}/b/${server.id}`])
    expect(await valueOf(`${prefix}/b/${server.id}`)).toContain(server.facts.process)
  })

  test('of a signing key is not believed, unless a server has removed it', async () => {
    const { prefix, server } = await newStore()
    const keys = (one: StoreServer): string[] => Array.from(one.state.records(SIGNING_KEY), ([id]) => id)
    await server.engine.execute(createFirstKey({ id: 'first', secret: 'x' }))
    const later = await start(prefix, 2)
    const value = await valueOf(`${prefix}/r/signing-key/first`)
    await remove(`${prefix}/r/signing-key/first`)
    // A write that fails is done again by the care, once a second. A server says it when it has the answer of etcd.
    const cared = async () => {
      await server.store.care(false)
      return [said, await valueOf(`${prefix}/r/signing-key/first`)]
    }
    await expect.poll(cared, WAIT).toEqual([[`mended: ${prefix}/r/signing-key/first`], value])
    expect([keys(server), keys(later)]).toEqual([['first'], ['first']])
    // All keys leave at once where one has leaked.
    await server.engine.execute(rotateKeys({ id: 'second', secret: 'y' }, 'leaked'))
    await expect.poll(() => keys(later), WAIT).toEqual(keys(server))
    expect(keys(server)).toContain('second')
    expect(said).toHaveLength(1)
  })

  test('of later changes in a snapshot of yesterday is loaded, and the numbers of keys are said', async () => {
    const { server } = await newStore()
    const [member] = here.etcd.members
    const place = join(directory, member!.name)
    const yesterday = join(temporaryDirectory('yesterday-'), 'data')
    await member!.kill()
    cpSync(place, yesterday, { recursive: true })
    await member!.restart()
    await server.engine.execute(publish('today'))
    for (const port of [81, 82]) await server.engine.execute(register(port))
    await member!.kill()
    rmSync(place, { recursive: true })
    cpSync(yesterday, place, { recursive: true })
    await member!.restart()
    await expect.poll(() => [server.contentOf(), server.ports()], WAIT).toEqual(['kept', [80]])
    expect(said.filter((text) => !text.startsWith('mended'))).toEqual([])
    expect(loads.at(-1)).toMatchObject({ before: loads.at(-1)!.after + 2 })
    await isBack(server)
  })
})
