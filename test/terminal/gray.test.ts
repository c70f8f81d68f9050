/** Gray versions from a here.terminal. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
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
  ).toContain(`DEFAULT_GROUP/${name} is published for 0 (percent).`)
  const list = await gray('list', name)
  expect(list).toMatch(new RegExp(`DEFAULT_GROUP/${name} +v2 +percent +0 .*careful`))
  expect(await seen(name)).toBe('old')
  await gray('grow', name, 'v2', '100')
  expect(await seen(name)).toBe('new')
  expect(await gray('promote', name, 'v2')).toContain('has the text of v2 for all')
  expect(JSON.parse(await gray('list', name, '-o', 'json'))).toEqual([])
  expect(await seen(name)).toBe('new')
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
