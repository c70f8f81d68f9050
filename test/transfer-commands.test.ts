import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inject } from 'vitest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientsOf, unique, type Client } from './interface/client.ts'
import { runWaypost, startWaypost, type Waypost } from './support/waypost.ts'

let servers: [Waypost, Waypost]
let first: Client
let second: Client

beforeAll(async () => {
  servers = await Promise.all([startWaypost(), startWaypost()])
  first = clientsOf(servers[0].url).nacos
  second = clientsOf(servers[1].url).nacos
})

afterAll(async () => {
  first?.close()
  second?.close()
  await Promise.all((servers ?? []).map((server) => server.stop()))
})

const newDirectory = (): string => mkdtempSync(join(inject('temporaryDirectory'), 'transfer-'))

async function namespaceOnBoth(): Promise<string> {
  const id = unique('ns')
  for (const client of [first, second])
    await client.post('/console/namespaces', { customNamespaceId: id, namespaceName: id, namespaceDesc: '' })
  return id
}

async function show(client: Client, tenant: string, name: string) {
  const [group, dataId] = name.split('/')
  return (await client.get('/cs/configs', { show: 'all', tenant, dataId, group })).json()
}

describe('export and import', () => {
  test('move a namespace from one server to another', async () => {
    const tenant = await namespaceOnBoth()
    const notes = { desc: 'a: "b"\n#c', appName: 'shop', config_tags: 'x,y', type: 'yaml', schema: 's\u2028' }
    await first.post('/cs/configs', {
      tenant,
      group: 'Größe',
      dataId: '日本.yml',
      content: 'ключ: ⚙\r\n',
      ...notes,
    })
    await first.post('/cs/configs', {
      tenant,
      group: 'G',
      dataId: 'large',
      content: `${'abc€ '.repeat(1_400_000)}.`,
    })
    const file = join(newDirectory(), 'configs.zip')
    const exported = await runWaypost([
      'export',
      '--url',
      servers[0].url,
      '--namespace',
      tenant,
      '--to',
      file,
    ])
    expect(exported).toMatchObject({ code: 0, stdout: `${file}: 2 items of namespace ${tenant}\n` })

    const to = ['import', '--url', servers[1].url, '--namespace', tenant, '--from', file]
    const dry = await runWaypost([...to, '--dry-run'])
    expect(dry).toMatchObject({
      code: 0,
      stdout: '2 items would be imported, 0 skipped, 0 in conflict\n  new: Größe/日本.yml\n  new: G/large\n',
    })
    expect((await second.get('/cs/configs', { tenant, group: 'G', dataId: 'large' })).status).toBe(404)

    expect(await runWaypost(to)).toMatchObject({
      code: 0,
      stdout: '2 items imported, 0 skipped, 0 in conflict\n',
    })
    const [a, b] = [await show(first, tenant, 'Größe/日本.yml'), await show(second, tenant, 'Größe/日本.yml')]
    const { id, createTime, modifyTime, ...same } = a
    expect([id, createTime, modifyTime]).not.toContain(undefined)
    expect(b).toMatchObject({ ...same, desc: 'a: "b"\n#c', configTags: 'x,y', schema: 's\u2028' })
    expect((await show(second, tenant, 'G/large')).md5).toBe((await show(first, tenant, 'G/large')).md5)
  }, 60_000)

  test('treat an item that exists as the policy says', async () => {
    const tenant = await namespaceOnBoth()
    for (const dataId of ['a', 'b'])
      await first.post('/cs/configs', { tenant, group: 'G', dataId, content: 'new' })
    await second.post('/cs/configs', { tenant, group: 'G', dataId: 'a', content: 'old' })
    const file = join(newDirectory(), 'configs.zip')
    await runWaypost(['export', '--url', servers[0].url, '--namespace', tenant, '--to', file])
    const to = ['import', '--url', servers[1].url, '--namespace', tenant, '--from', file]
    const aborted = await runWaypost(to)
    expect(aborted.code).toBe(1)
    expect(aborted.stdout).toMatch(
      /^0 items imported, 1 not tried, 1 in conflict\n {2}exists already, stopped there: G\/a\n {2}\(--policy skip .*\n {2}not tried: G\/b\n$/,
    )
    const ahead = await runWaypost([...to, '--policy', 'overwrite', '--dry-run'])
    expect(ahead.stdout).toBe(
      '2 items would be imported, 0 skipped, 0 in conflict\n  new: G/b\n  changed: G/a\n',
    )
    expect((await runWaypost([...to, '--policy', 'skip'])).stdout).toMatch(/^1 items imported, 1 skipped/)
    expect((await show(second, tenant, 'G/a')).content).toBe('old')
    expect((await runWaypost([...to, '--policy', 'overwrite'])).stdout).toMatch(/^2 items imported/)
    expect((await show(second, tenant, 'G/a')).content).toBe('new')
  }, 60_000)

  test('send many items in parts', async () => {
    const tenant = await namespaceOnBoth()
    const publish = (index: number) =>
      first.post('/cs/configs', {
        tenant,
        group: `G${index % 7}`,
        dataId: `item-${index}`,
        content: `${index}`,
      })
    for (let at = 0; at < 1_200; at += 100)
      await Promise.all(Array.from({ length: 100 }, (_, index) => publish(at + index)))
    const directory = newDirectory()
    const names = ['--group', 'G*', '--data-id', 'item-*']
    const all = await runWaypost([
      'export',
      '--url',
      servers[0].url,
      '--all-namespaces',
      '--to',
      directory,
      ...names,
    ])
    expect(all.code, all.stderr).toBe(0)
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(['public.zip', `${tenant}.zip`]))
    const from = join(directory, `${tenant}.zip`)
    const done = await runWaypost(['import', '--url', servers[1].url, '--namespace', tenant, '--from', from])
    expect(done).toMatchObject({ code: 0, stdout: '1200 items imported, 0 skipped, 0 in conflict\n' })
    expect((await show(second, tenant, `G${1199 % 7}/item-1199`)).content).toBe('1199')
  }, 60_000)
})

describe('a failure has a message', () => {
  test('an unknown namespace, a damaged file, a file that exists', async () => {
    const directory = newDirectory()
    const file = join(directory, 'configs.zip')
    await first.post('/cs/configs', { group: 'G', dataId: 'any', content: 'x' })
    await runWaypost(['export', '--url', servers[0].url, '--to', file])
    const unknown = await runWaypost([
      'import',
      '--url',
      servers[1].url,
      '--namespace',
      'nope',
      '--from',
      file,
    ])
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/There is no namespace nope on the list/),
    })
    const again = await runWaypost(['export', '--url', servers[0].url, '--to', file])
    expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/exists already/) })
    const damaged = join(directory, 'damaged.zip')
    writeFileSync(damaged, readFileSync(file).subarray(0, -1))
    const refused = await runWaypost(['import', '--url', servers[1].url, '--from', damaged])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/The zip file is no zip file/) })
  })

  test('a dry run sends nothing to a server that does not know one', async () => {
    const asked: string[] = []
    const other = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.writeHead(404).end('{"status":404}')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const file = join(newDirectory(), 'configs.zip')
    await runWaypost(['export', '--url', servers[0].url, '--to', file])
    const dry = await runWaypost(['import', '--url', url, '--from', file, '--dry-run'])
    const export404 = await runWaypost(['export', '--url', url, '--to', `${file}2`])
    await new Promise((resolve) => other.close(resolve))
    expect(dry).toMatchObject({ code: 2, stderr: expect.stringMatching(/no Waypost server/) })
    expect(asked[0]).toBe('GET /openapi.json')
    expect(asked.filter((line) => line.startsWith('POST'))).toEqual([])
    expect(export404).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/answers no export: the server answered 404/),
    })
    expect(existsSync(`${file}2`) || existsSync(`${file}2.part`)).toBe(false)
  })
})
