/** Gray versions from a here.terminal. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, md5, type Params, unique } from '../interface/client.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { terminalForThisFile } from './terminal.ts'

const here = terminalForThisFile()
const file = join(temporaryDirectory('gray-'), 'new.yaml')

beforeAll(() => writeFileSync(file, 'new'))

const seen = async (dataId: string): Promise<string> =>
  (await here.svc.get('/cs/configs', { dataId, group: 'DEFAULT_GROUP' })).text
const gray = (...words: string[]): Promise<string> => here.terminal.ok('config', 'gray', ...words)

test('a version is published for a share, listed, grown and promoted', async () => {
  const name = unique('item')
  await here.svc.post('/cs/configs', { dataId: name, group: 'DEFAULT_GROUP', content: 'old' })
  expect(
    await gray('publish', name, file, '--name', 'v2', '--percent', '0', '--comment', 'careful'),
  ).toContain(`DEFAULT_GROUP/${name} is published for 0 (percent). It matches 0 of 0 clients that listen.`)
  const list = await gray('list', name)
  expect(list).toMatch(new RegExp(`DEFAULT_GROUP/${name} +v2 +percent +0 .*careful`))
  expect(await seen(name)).toBe('old')
  await gray('grow', name, 'v2', '100')
  expect(await seen(name)).toBe('new')
  expect(await gray('promote', name, 'v2')).toContain('has the text of v2 for all')
  expect(JSON.parse(await gray('list', name, '-o', 'json'))).toEqual([])
  expect(await seen(name)).toBe('new')
  const history = await here.terminal.ok('config', 'history', name)
  const lines = [
    'gray v2 ended, for 100',
    'promoted from v2',
    'gray v2 changed, for 100',
    'gray v2, for 0 .* careful',
    'made',
  ]
  expect(history).toMatch(new RegExp(lines.join('[^]*')))
})

test('a version for addresses is stopped by its name', async () => {
  const name = unique('item')
  await gray('publish', name, file, '--ips', '127.0.0.1,10.0.0.7')
  expect(await seen(name)).toBe('new')
  expect(await gray('list', '-o', 'name')).toContain(`DEFAULT_GROUP/${name} beta`)
  await gray('stop', name, 'beta')
  expect((await here.svc.get('/cs/configs', { dataId: name, group: 'DEFAULT_GROUP' })).status).toBe(404)
  const again = await here.terminal.run(['config', 'gray', 'stop', name, 'beta'])
  expect(again.code).toBe(1)
})

test('an item with gray versions only is in the list of items', async () => {
  const name = unique('item')
  await gray('publish', name, file, '--tag', 'blue')
  const list = await here.terminal.ok('config', 'list', name)
  expect(list).toMatch(new RegExp(`DEFAULT_GROUP +${name} +only gray: tag_blue`))
  const [json] = JSON.parse(await here.terminal.ok('config', 'list', name, '-o', 'json')) as object[]
  expect(json).toMatchObject({ dataId: name, grayNames: ['tag_blue'] })
  expect(json).not.toHaveProperty('md5')
  const gone = await here.terminal.ok('config', 'delete', name)
  const way = / is deleted\. This brings it back: waypost (config restore \S+ \d+)\n$/.exec(gone)?.[1]
  await here.terminal.ok(...way!.split(' '))
  expect(await gray('list', '-o', 'name')).toContain(`DEFAULT_GROUP/${name} tag_blue`)
})

test.each([[[]], [['--ips', '10.0.0.1', '--tag', 'x']]])(
  'with the rules %j nothing is published',
  async (rules) => {
    const { code, err } = await here.terminal.run(['config', 'gray', 'publish', 'a', file, ...rules])
    expect([code, err]).toEqual([2, 'waypost: name one of --ips, --tag, --labels and --percent\n'])
  },
)

test('it says why a client gets which version', async () => {
  const name = unique('item')
  await here.svc.post('/cs/configs', { dataId: name, group: 'DEFAULT_GROUP', content: 'old' })
  await gray('publish', name, file, '--ips', '10.0.0.7')
  await gray('publish', name, file, '--name', 'test', '--labels', 'env=test')
  const explain = (...words: string[]) => gray('explain', name, ...words)
  const meant = await explain('--ip', '10.0.0.7', '--labels', 'env=test')
  expect(meant).toMatch(/beta +yes +it is for the client/)
  expect(meant).toMatch(/test +no +another one comes before/)
  expect(meant).toMatch(/formal +no +a gray version comes before/)
  expect(await explain('--ip', '10.0.0.8')).toMatch(/formal +yes +no gray version is for the client/)
})

test('an item that has gray versions only is compared, exported and deleted as such', async () => {
  const [name, own] = [unique('only'), unique('ns')]
  const config = (...words: string[]): Promise<string> => here.terminal.ok('config', ...words, '-n', own)
  await config('gray', 'publish', name, file, '--tag', 'blue')
  expect(await config('diff', '--to', unique('ns'))).toContain(
    `  DEFAULT_GROUP/${name}: in ${own} gray versions only (tag_blue)`,
  )
  const zip = join(temporaryDirectory('gray-'), 'out.zip')
  expect(await config('export', '--to', zip)).toContain('Without 1 gray version:')
  expect(await config('delete', name)).toContain(`DEFAULT_GROUP/${name} is deleted.`)
  expect(JSON.parse(await config('gray', 'list', name, '-o', 'json'))).toEqual([])
  expect((await here.terminal.run(['config', 'delete', name, '-n', own])).code).toBe(1)
})

describe('a client behind a NAT', () => {
  const OWN = '192.0.2.2'
  let dataId: string
  let item: Record<string, string>
  let client: GrpcClient

  beforeAll(async () => {
    dataId = unique('nat')
    item = { dataId, group: 'G' }
    await here.svc.post('/cs/configs', { ...item, content: 'old' })
    client = await connectGrpc(here.server, { clientIp: OWN })
    const configListenContexts = [{ ...item, tenant: '', md5: md5('old') }]
    await client.ask('ConfigBatchListenRequest', { listen: true, configListenContexts })
  })
  afterAll(() => client.close())

  const statusOf = async (door: Client, path: string, query: Params): Promise<object> =>
    ((await door.get(path, query)).json() as { lisentersGroupkeyStatus: object }).lisentersGroupkeyStatus

  test.each(['svc', 'nacos'] as const)('%s shows and finds the address that rules compare', async (door) => {
    expect(await statusOf(here[door], '/cs/configs/listener', item)).toEqual({ [OWN]: md5('old') })
    expect(await statusOf(here[door], '/cs/listener', { ip: OWN })).toEqual({ [`${dataId}+G`]: md5('old') })
    expect(await statusOf(here[door], '/cs/listener', { ip: '127.0.0.1' })).toEqual({})
  })

  test('the address that the terminal shows is the one that a rule takes', async () => {
    const listeners = await here.terminal.ok('config', 'listeners', dataId, '-g', 'G')
    const shown = /^(\S+) \(127\.0\.0\.1:\d+\)/m.exec(listeners)?.[1] ?? ''
    expect(await here.terminal.ok('client', 'list', OWN)).toContain(` ${OWN} (127.0.0.1:`)
    expect(shown).toBe(OWN)
    const publishFor = (ips: string, ...more: string[]) =>
      here.terminal.run(['config', 'gray', 'publish', `G/${dataId}`, file, '--ips', ips, ...more])
    expect((await publishFor('127.0.0.1')).out).toContain('(beta). It matches 0 of 1 client that listens.')
    expect((await publishFor(shown, '--yes')).out).toContain('It matches 1 of 1 client that listens.')
    expect(await gray('explain', `G/${dataId}`, '--ip', shown)).toMatch(/beta +yes +it is for the client/)
    expect(await gray('grow', `G/${dataId}`, 'beta', '10.0.0.1')).toContain('It matches 0 of 1 client')
    await gray('stop', `G/${dataId}`)
  })

  test.each([
    ['beta', OWN, 1],
    ['beta', '127.0.0.1', 0],
    ['tag', 'blue', 0],
    ['tagv2', `ClientIp=${OWN}`, 1],
    ['percent', '100', null],
  ])('the rule %s %s is for %s clients', async (grayType, grayMatchRuleExp, matching) => {
    const rule = { ...item, grayType, grayMatchRuleExp }
    expect((await here.svc.get('/console/config/watchers', rule)).json()).toMatchObject({
      count: 1,
      matching,
    })
  })

  test('how many a share takes is known of a version that is out', async () => {
    await gray('publish', `G/${dataId}`, file, '--name', 'v2', '--percent', '0')
    expect(await gray('grow', `G/${dataId}`, 'v2', '100')).toContain('It matches 1 of 1 client that listens.')
    await gray('stop', `G/${dataId}`, 'v2')
  })
})

describe('a version that is out', () => {
  const named = async (): Promise<string> => {
    const name = unique('out')
    await gray('publish', name, file, '--ips', '10.0.0.7')
    return name
  }
  const versions = async (name: string) => JSON.parse(await gray('list', name, '-o', 'json')) as object[]

  test('is replaced with --yes only, and nothing changes without', async () => {
    const name = await named()
    const other = ['config', 'gray', 'publish', name, file, '--ips', '10.0.0.8']
    const before = await versions(name)
    const { code, err } = await here.terminal.run(other)
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(
        /This replaces the gray version beta for 10\.0\.0\.7, since \S+ by 127\.0\.0\.1\..*--yes/,
      ),
    ])
    expect(await versions(name)).toEqual(before)
    const asked = await here.terminal.onTerminal(other, 'n\n')
    expect([asked.code, asked.out]).toEqual([2, expect.stringContaining('Publish it? [y/N]')])
    expect(await versions(name)).toEqual(before)
    await gray('publish', name, file, '--ips', '10.0.0.7')
    await here.terminal.ok(...other, '--yes')
    expect(await versions(name)).toMatchObject([{ grayMatchRuleExp: '10.0.0.8' }])
  })

  test('is promoted or stopped without its name where it is the only one', async () => {
    const name = await named()
    await gray('publish', name, file, '--tag', 'blue')
    for (const command of ['promote', 'stop'])
      expect(await here.terminal.run(['config', 'gray', command, name])).toMatchObject({
        code: 2,
        err: expect.stringContaining('Name one of the gray versions of it: beta, tag_blue') as string,
      })
    await gray('stop', name, 'tag_blue')
    expect(await gray('promote', name)).toContain('has the text of beta for all')
    const none = await here.terminal.run(['config', 'gray', 'stop', name])
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('has no gray version.')])
  })
})

test.each(['not-an-ip', '10.0.0.7,10.0.0', ','])('no version is published for %s', async (ips) => {
  const { code, err } = await here.terminal.run(['config', 'gray', 'publish', 'a', file, '--ips', ips])
  expect([code, err]).toEqual([2, expect.stringContaining('is no IP address')])
})
