/** Configurations from a terminal: what comes out are the bytes that went in. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'
import { terminalForThisFile } from './terminal.ts'

const here = terminalForThisFile()
const directory = temporaryDirectory('configs-')

function fileOf(content: string | Buffer): string {
  const file = join(directory, unique('file'))
  writeFileSync(file, content)
  return file
}

const contentOf = async (dataId: string, group = 'DEFAULT_GROUP'): Promise<string> =>
  (await here.svc.get('/cs/configs', { dataId, group })).text
const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

describe('get and put', () => {
  test.each([
    ['CRLF', 'a: 1\r\nb: 2\r\n'],
    ['a byte order mark', '\uFEFFa: 1\n'],
    ['no end of the last line', 'a: 1'],
    ['control characters', 'a\0b\u001b[2J\u0007\r\r\n\t'],
    ['letters of every kind', 'größe 日本 🙂 \u202E\u2028'],
    ['characters of forms', 'a+b&c=d%20;e'],
  ])('give the same bytes back: %s', async (_, content) => {
    const name = unique('item')
    const file = fileOf(content)
    expect(await here.terminal.ok('config', 'put', name, file)).toBe(`DEFAULT_GROUP/${name} is published.\n`)
    expect((await here.terminal.run(['config', 'get', name])).bytes).toEqual(Buffer.from(content))
    const copied = await here.terminal.run(['config', 'put', `  ${name} `, '-', '-g', ' G '], content)
    // The server drops blanks around names, and the terminal says so.
    expect(copied).toMatchObject({
      code: 0,
      err: '',
      out: `G/${name} is published. Blanks at the ends of its name are left out.\n`,
    })
    expect((await here.terminal.run(['config', 'get', name, '-g', 'G'])).bytes).toEqual(Buffer.from(content))
  })

  test('refuse bytes that are no text, before anything is sent', async () => {
    const name = unique('item')
    const { code, err } = await here.terminal.run(
      ['config', 'put', name, '-'],
      Buffer.from([0x61, 0xff, 0xfe]),
    )
    expect([code, err]).toEqual([2, 'waypost: standard input is not UTF-8: the server stores text only.\n'])
    expect((await here.terminal.run(['config', 'get', name])).code).toBe(1)
  })

  test('a large content comes through a pipe as a whole', async () => {
    const name = unique('item')
    const content = 'abc€ '.repeat(1_000_000)
    expect(await here.terminal.run(['config', 'put', name, '-'], content)).toMatchObject({ code: 0 })
    expect((await here.terminal.run(['config', 'get', name])).bytes.equals(Buffer.from(content))).toBe(true)
  })

  test('a reader that leaves early is no fault', async () => {
    const name = unique('item')
    await here.terminal.run(['config', 'put', name, '-'], 'x'.repeat(3_000_000))
    const { code, out, err } = await here.terminal.inShell(`waypost config get ${name} | head -c 3`)
    expect([code, out, err]).toEqual([0, 'xxx', ''])
  })

  test('an absent item is exit code 1, an unreachable server 2', async () => {
    const absent = await here.terminal.run(['config', 'get', 'absent'])
    expect([absent.code, absent.out]).toEqual([1, ''])
    expect(absent.err).toContain('There is no configuration absent')
    const away = await here.terminal.run(['config', 'get', 'absent', '--server', 'http://127.0.0.1:1'])
    expect([away.code, away.err]).toEqual([2, expect.stringContaining('cannot be reached')])
  })

  test('a put may depend on what there is', async () => {
    const name = unique('item')
    expect(await here.terminal.run(['config', 'put', name, '-', '--create'], 'one')).toMatchObject({
      code: 0,
    })
    expect(await here.terminal.run(['config', 'put', name, '-', '--create'], 'two')).toMatchObject({
      code: 1,
    })
    expect(await here.terminal.run(['config', 'put', name, '-', '--cas-md5', md5('x')], 'two')).toMatchObject(
      {
        code: 1,
      },
    )
    expect(
      await here.terminal.run(['config', 'put', name, '-', '--cas-md5', md5('one')], 'two'),
    ).toMatchObject({
      code: 0,
    })
    expect(await contentOf(name)).toBe('two')
  })
})

describe('formats', () => {
  test('json, yaml and name have what is known of an item', async () => {
    const name = unique('item')
    await here.terminal.run(
      ['config', 'put', name, '-', '--type', 'json', '--desc', 'd', '--tags', 'x,y'],
      '{}',
    )
    const json = JSON.parse(await here.terminal.ok('config', 'get', name, '-o', 'json')) as object
    expect(json).toMatchObject({
      dataId: name,
      content: '{}',
      md5: md5('{}'),
      type: 'json',
      desc: 'd',
      configTags: 'x,y',
    })
    expect(await here.terminal.ok('config', 'get', name, '--output=yaml')).toContain(`dataId: ${name}\n`)
    expect(await here.terminal.ok('config', 'list', name, '-o', 'name')).toBe(`DEFAULT_GROUP/${name}\n`)
    const rows = (await here.terminal.ok('config', 'list', name)).split('\n')
    expect(rows[0]).toMatch(/^GROUP +DATA ID +TYPE +BYTES +MD5 +CHANGED +BY +CLIENTS$/)
    expect(rows[1]).toContain(`${name}  json  2      ${md5('{}')}`)
  })

  test('a list has all pages', async () => {
    const group = unique('G')
    const publish = (index: number) =>
      here.svc.post('/cs/configs', { dataId: `i${index}`, group, content: 'x' })
    for (let at = 0; at < 1_100; at += 100)
      await Promise.all(Array.from({ length: 100 }, (_, index) => publish(at + index)))
    const names = (await here.terminal.ok('config', 'list', '-g', group, '-o', 'name')).trimEnd().split('\n')
    expect(new Set(names).size).toBe(1_100)
    const found = await here.terminal.ok('config', 'list', '-g', group, '--content', 'x', '-o', 'json')
    expect(JSON.parse(found)).toHaveLength(1_100)
  }, 60_000)
})

describe('edit', () => {
  const edit = (name: string, editor: string, ...flags: string[]) =>
    here.terminal.run(['config', 'edit', name, '--yes', ...flags], '', { EDITOR: editor })

  test.each([
    ['CRLF', 'a: 1\r\nb: 2\r\n', 'a: 9\r\nb: 2\r\n'],
    ['a byte order mark', '\uFEFFa: 1\nb: 2\n', '\uFEFFa: 9\nb: 2\n'],
    ['no end of the last line', 'a: 1\nb: 2', 'a: 9\nb: 2'],
  ])('publishes with the form of the original: %s', async (_, content, result) => {
    const name = unique('item')
    await here.svc.post('/cs/configs', { dataId: name, group: 'DEFAULT_GROUP', content, desc: 'stays' })
    // An editor that makes a file of its own: without a byte order mark, with its line ends.
    const editor = `sh -c 'printf "a: 9\\nb: 2\\n" > "$1"' sh`
    const { code, out, err } = await edit(name, editor)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^--- DEFAULT_GROUP.*\n\+\+\+ edited\n@@ -1,2 \+1,2 @@\n-.*a: 1.*\n\+.*a: 9.*\n/)
    expect(await contentOf(name)).toBe(result)
    expect(
      (await here.svc.get('/cs/configs', { dataId: name, group: 'DEFAULT_GROUP', show: 'all' })).json().desc,
    ).toBe('stays')
  })

  test('asks, and without a terminal needs --yes before the editor opens', async () => {
    const ran = await here.terminal.run(['config', 'edit', unique('item')], '', { EDITOR: 'false' })
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('--yes is required')])
  })

  test('changes nothing where nothing was edited, or the editor failed', async () => {
    const name = unique('item')
    await here.svc.post('/cs/configs', { dataId: name, group: 'DEFAULT_GROUP', content: 'a' })
    expect((await edit(name, 'true')).out).toBe('Nothing was changed.\n')
    const failed = await edit(name, 'false')
    expect([failed.code, failed.err]).toEqual([2, expect.stringContaining('The editor false ended with 1')])
    expect(await contentOf(name)).toBe('a')
  })

  test('publishes nothing over what somebody else has changed meanwhile, and keeps what was typed', async () => {
    const name = unique('item')
    await here.svc.post('/cs/configs', { dataId: name, group: 'DEFAULT_GROUP', content: 'a' })
    const others = `curl -s ${here.server.url}/svc/v1/cs/configs -d dataId=${name} -d group=DEFAULT_GROUP -d content=theirs >&2`
    const { code, err } = await edit(name, `sh -c 'printf mine > "$1"; ${others}' sh`)
    const kept = /What you edited is in (\S+)\./.exec(err)?.[1]
    expect([code, kept]).toEqual([1, expect.any(String)])
    expect(readFileSync(kept!, 'utf8')).toBe('mine')
    expect(await contentOf(name)).toBe('theirs')
  })
})

describe('diff and history', () => {
  test('say by the exit code whether something differs', async () => {
    const name = unique('item')
    await here.svc.post('/cs/configs', { dataId: name, group: 'DEFAULT_GROUP', content: 'a\nb\n' })
    expect(await here.terminal.run(['config', 'diff', name, '-'], 'a\nb\n')).toMatchObject({
      code: 0,
      out: '',
      err: '',
    })
    const different = await here.terminal.run(['config', 'diff', name, '-'], 'a\nc\n')
    expect(different).toMatchObject({ code: 1, err: '' })
    expect(different.out).toContain('@@ -1,2 +1,2 @@\n a\n-b\n+c\n')
    const absent = await here.terminal.run(['config', 'diff', unique('absent'), '-'], 'a\n')
    expect([absent.code, absent.out]).toEqual([1, expect.stringContaining('(absent)')])
    expect(await here.terminal.run(['config', 'diff', name])).toMatchObject({ code: 2 })
  })

  test('of versions, and a restore of a deleted item', async () => {
    const name = unique('item')
    for (const content of ['one\n', 'two\n'])
      expect(
        await here.terminal.run(['config', 'put', name, '-', '--comment', `as ${content}`], content),
      ).toMatchObject({
        code: 0,
      })
    const [second, first] = (await here.terminal.ok('config', 'history', name, '-o', 'name')).split('\n')
    const change = await here.terminal.run(['config', 'diff', name, '--version', first!])
    expect(change).toMatchObject({ code: 1, out: expect.stringContaining('-one\n+two\n') })
    const back = await here.terminal.run(['config', 'diff', name, '--version', second!, '--with', first!])
    expect(back.out).toContain('-two\n+one\n')
    expect(await here.terminal.ok('config', 'get', name, '--version', first!)).toBe('one\n')
    const asked = await here.terminal.onTerminal(['config', 'delete', name], 'n\r')
    expect([asked.code, asked.out]).toEqual([2, expect.stringMatching(/: no clients listen\.\s+Delete it\?/)])
    const gone = await here.terminal.ok('config', 'delete', name, '--comment', 'over')
    const way = / is deleted\. This brings it back: waypost (config restore \S+ \d+)\n$/.exec(gone)?.[1]
    expect(await here.terminal.ok(...way!.split(' '))).toContain('again')
    await here.terminal.ok('config', 'delete', name)
    expect(await here.terminal.run(['config', 'delete', name])).toMatchObject({ code: 1 })
    expect(await here.terminal.ok('config', 'history', name)).toMatch(/deleted .* over\n/)
    await here.terminal.ok('config', 'restore', name, first!)
    expect(await contentOf(name)).toBe('one\n')
  })

  test('of namespaces', async () => {
    const [from, to] = [unique('ns'), unique('ns')]
    const publish = (tenant: string, dataId: string, content: string) =>
      here.svc.post('/cs/configs', { tenant, dataId, group: 'G', content })
    await Promise.all([
      publish(from, 'a', '1'),
      publish(to, 'a', '2'),
      publish(from, 'b', '1'),
      publish(to, 'c', '1'),
    ])
    const { code, out } = await here.terminal.run(['config', 'diff', '-n', from, '--to', to])
    expect(code).toBe(1)
    expect(out).toBe(
      `- G/b\n+ G/c\n~ G/a\n0 equal, 3 different (- only in ${from}, + only in ${to}, ~ differs)\n`,
    )
    expect((await here.terminal.run(['config', 'diff', 'G/a', '-n', from, '--to', to])).out).toContain('-1\n')
  })
})

describe('watch', () => {
  test('prints changes as they come, also after the server has restarted', async () => {
    const restarting = await startWaypost()
    const names = [unique('a'), unique('b')]
    const watching = here.terminal.start(['config', 'watch', '--server', restarting.url, '-o', 'json'])
    await watching.printed('watching public')
    const put = (name: string, text: string, url: string) =>
      here.terminal.run(['config', 'put', name, '-', '--server', url], text)
    await put(names[0]!, 'one', restarting.url)
    await watching.printed(names[0]!)
    const again = await restarting.restart()
    await put(names[1]!, 'two', again.url)
    await watching.printed(names[1]!)
    await here.terminal.ok('config', 'delete', names[0]!, '--server', again.url)
    await watching.printed('deleted')
    await watching.stop()
    await again.stop()
    const lines = watching.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(lines).toMatchObject([
      { change: 'published', group: 'DEFAULT_GROUP', dataId: names[0], md5: md5('one'), size: 3 },
      { change: 'published', dataId: names[1], md5: md5('two') },
      { change: 'deleted', dataId: names[0], md5: null },
    ])
  }, 90_000)

  test('ends after the first change of a watched item with --once', async () => {
    const name = unique('item')
    const watching = here.terminal.start(['config', 'watch', name, '--once'])
    await watching.printed('watching public')
    await here.terminal.run(['config', 'put', unique('other'), '-'], 'x')
    await here.terminal.run(['config', 'put', name, '-'], 'x')
    expect(await watching.ended()).toBe(0)
    expect(watching.out).toMatch(
      new RegExp(
        `^\\S+ {2}published {2}DEFAULT_GROUP/${name} {2}${md5('x')} {2}1 bytes {2}by 127\\.0\\.0\\.1\n$`,
      ),
    )
  })

  test('of a server that is away is exit code 2', async () => {
    const { code } = await here.terminal.run(['config', 'watch', '--server', 'http://127.0.0.1:1'])
    expect(code).toBe(2)
  })
})

test('export and import go through pipes', async () => {
  const [from, to] = [unique('ns'), unique('ns')]
  for (const id of [from, to]) await here.terminal.ok('namespace', 'create', id)
  await here.terminal.run(['config', 'put', 'a', '-', '-n', from], '\uFEFFa\r\n')
  const zip = await here.terminal.run(['config', 'export', '-n', from, '--to', '-'])
  expect([zip.code, zip.err]).toEqual([0, ''])
  const imported = await here.terminal.run(['config', 'import', '-n', to, '--from', '-'], zip.bytes)
  expect(imported).toMatchObject({ code: 0, out: '1 items imported, 0 skipped, 0 in conflict\n' })
  expect((await here.terminal.run(['config', 'get', 'a', '-n', to])).bytes.toString()).toBe('\uFEFFa\r\n')
})
