import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique, type Params } from './client.ts'
import { configs, filesIn, transferOn } from './transfer-support.ts'

const waypost = serverForThisFile()
const { exported, newNamespace, publish } = transferOn(waypost)

describe('export', () => {
  test('the second layout has contents, types, descriptions and applications', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a.yml', { type: 'yaml', desc: 'what for', appName: 'shop' })
    await publish(tenant, 'b', { content: 'ключ: ⚙\r\n' })
    const reply = await exported({ tenant })
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/octet-stream')
    expect(reply.headers['content-disposition']).toMatch(
      /^attachment;filename=nacos_config_export_\d{14}\.zip$/,
    )
    expect(await filesIn(reply.bytes)).toEqual({
      'G/a.yml': 'content of a.yml',
      'G/b': 'ключ: ⚙\r\n',
      '.metadata.yml':
        'metadata:\n- appName: shop\n  dataId: a.yml\n  desc: "what for"\n  group: G\n  type: yaml\n' +
        '- appName: ""\n  dataId: b\n  desc: null\n  group: G\n  type: text\n',
    })
  })

  test('the first layout has only the application, if there is one', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a.b.yml', { appName: 'shop' })
    await publish(tenant, 'c')
    const reply = await waypost.nacos.get(configs, { export: true, tenant, ids: '', group: '', appName: '' })
    expect(await filesIn(reply.bytes)).toEqual({
      'G/a.b.yml': 'content of a.b.yml',
      'G/c': 'content of c',
      '.meta.yml': 'G.a.b~yml.app=shop\r\n',
    })
  })

  test('names, group, application and ids select items, and ids only those of the namespace', async () => {
    const [tenant, other] = [await newNamespace(), await newNamespace()]
    await publish(tenant, 'web.a', { appName: 'shop' })
    await publish(tenant, 'web.b', { group: 'H' })
    await publish(other, 'secret')
    const names = async (query: Params): Promise<string[]> =>
      Object.keys(
        await filesIn((await waypost.nacos.get(configs, { export: true, tenant, ...query })).bytes),
      ).filter((name) => name !== '.meta.yml')
    expect(await names({})).toEqual(['G/web.a', 'H/web.b'])
    expect(await names({ group: 'H' })).toEqual(['H/web.b'])
    expect(await names({ appName: 'shop' })).toEqual(['G/web.a'])
    expect(await names({ dataId: '*.b' })).toEqual(['H/web.b'])
    const idOf = async (ns: string, dataId: string, group = 'G'): Promise<string> =>
      (await waypost.nacos.get(configs, { show: 'all', tenant: ns, dataId, group })).json().id
    const ids = `${await idOf(tenant, 'web.b', 'H')},${await idOf(other, 'secret')},99999999`
    expect(await names({ ids })).toEqual(['H/web.b'])
    expect(await names({ tenant: unique('unknown') })).toEqual([])
    expect((await exported({ tenant, ids: 'x' })).status).toBe(400)
  })
})

test('a client that disconnects during an export does not affect the server', async () => {
  const tenant = await newNamespace()
  for (const dataId of ['a', 'b', 'c'])
    await publish(tenant, dataId, { content: randomBytes(3_000_000).toString('base64') })
  const url = `${waypost.server.url}/nacos/v1${configs}?exportV2=true&tenant=${tenant}`
  await new Promise<void>((resolve, reject) => {
    const asked = request(url, (reply) => reply.once('data', () => reply.destroy()).once('close', resolve))
    asked.on('error', reject).end()
  })
  const whole = await exported({ tenant })
  expect(Object.keys(await filesIn(whole.bytes))).toEqual(['G/a', 'G/b', 'G/c', '.metadata.yml'])
  expect(waypost.server.output()).not.toMatch(/cut in the middle|"level":50/)
})
