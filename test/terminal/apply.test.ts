/** A directory is applied to a namespace, as a pipeline does it. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
import { needTool } from '../support/need-tool.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { type Ran, terminalForThisFile } from './terminal.ts'

const here = terminalForThisFile()
let tenant: string
let directory: string

beforeEach(() => {
  tenant = unique('ns')
  directory = temporaryDirectory('apply-')
})

function write(name: string, content: string): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true })
  writeFileSync(join(directory, name), content)
}

const apply = (...flags: string[]): Promise<Ran> =>
  here.terminal.run(['config', 'apply', '-f', directory, '--set', 'shop', '-n', tenant, ...flags])
const publish = (group: string, dataId: string, content: string) =>
  here.svc.post('/cs/configs', { tenant, group, dataId, content })
const contentOf = async (group: string, dataId: string) =>
  (await here.svc.get('/cs/configs', { tenant, group, dataId })).text
const namesOnServer = async (): Promise<string[]> =>
  (await here.terminal.ok('config', 'list', '-n', tenant, '-o', 'name')).trimEnd().split('\n').toSorted()

describe('an apply', () => {
  test('creates and changes what differs, and says so before', async () => {
    write('app.yaml', '\uFEFFa: 1\r\n')
    write('G/b.json', '{}')
    write('G/same', 'same')
    write('.git/ignored', 'x')
    await publish('G', 'same', 'same')
    await publish('G', 'b.json', '{"old":true}')
    const plan = '+ DEFAULT_GROUP/app.yaml\n~ G/b.json\n1 to create, 1 to change, 0 to delete, 1 equal\n'
    expect(await apply('--dry-run')).toMatchObject({ code: 1, out: plan, err: '' })
    expect(await contentOf('G', 'b.json')).toBe('{"old":true}')
    expect((await apply('--dry-run', '--diff')).out).toContain('-{"old":true}\n')
    expect(await apply()).toMatchObject({ code: 0, out: `${plan}1 created, 1 changed, 0 deleted\n`, err: '' })
    expect((await here.terminal.run(['config', 'get', 'app.yaml', '-n', tenant])).bytes.toString()).toBe(
      '\uFEFFa: 1\r\n',
    )
    expect(
      JSON.parse((await here.terminal.run(['config', 'get', 'app.yaml', '-n', tenant, '-o', 'json'])).out),
    ).toMatchObject({
      type: 'yaml',
    })
    expect(await here.terminal.ok('config', 'history', 'G/b.json', '-n', tenant)).toContain('apply shop')
    const again = await apply('--dry-run', '-o', 'json')
    expect(again.code).toBe(0)
    expect(JSON.parse(again.out)).toEqual({
      set: 'shop',
      record: 'waypost.sets/shop',
      dryRun: true,
      created: [],
      changed: [],
      deleted: [],
      left: [],
      shared: [],
      equal: 3,
      leftOut: [],
      readAs: [],
    })
  })

  test('deletes with --prune only what the same set has published, by name', async () => {
    for (const name of ['a', 'b', 'c']) write(`G/${name}`, name)
    await publish('G', 'foreign', 'x')
    expect(await apply()).toMatchObject({ code: 0 })
    write('G/d', 'd')
    expect(
      await here.terminal.run(['config', 'apply', '-f', directory, '--set', 'other', '-n', tenant]),
    ).toMatchObject({ code: 0 })
    for (const name of ['b', 'c', 'd']) rmSync(join(directory, 'G', name))
    const left = await apply()
    expect([left.code, left.out]).toEqual([0, expect.stringContaining('G/b  (no longer in the directory')])
    const refused = await apply('--prune')
    expect([refused.code, refused.err]).toEqual([2, 'waypost: Without a terminal, --yes is required.\n'])
    await publish('G', 'c', 'changed by hand')
    const pruned = await apply('--prune', '--yes')
    expect([pruned.code, pruned.err]).toEqual([0, ''])
    expect(pruned.out).toContain(
      '- G/c  (somebody else has changed it since the last apply; also in the set other)\n',
    )
    expect(await namesOnServer()).toEqual([
      'G/a',
      'G/d',
      'G/foreign',
      'waypost.sets/other',
      'waypost.sets/shop',
    ])
    expect((await apply('--prune', '--dry-run')).code).toBe(0)
  }, 60_000)

  test('deletes nothing beside a name that is not UTF-8, and names it', async () => {
    write('G/a', 'a')
    write('G/配置', 'b')
    expect(await apply()).toMatchObject({ code: 0 })
    const gbk = Buffer.concat([Buffer.from(`${directory}/G/`), Buffer.from([0xc5, 0xe4])])
    renameSync(join(directory, 'G/配置'), gbk)
    const refused = await apply('--prune', '--yes')
    expect([refused.code, refused.out]).toEqual([2, ''])
    expect(refused.err).toContain('--prune would delete G/配置, and these names are not UTF-8: G/%C5%E4.')
    const left = await apply()
    expect([left.code, left.out]).toEqual([
      0,
      expect.stringContaining('  G/%C5%E4  (left out: the name is not UTF-8)\n'),
    ])
    expect(await namesOnServer()).toContain('G/配置')
  })

  test('names the items that other sets have published too', async () => {
    for (const name of ['a', 'b', 'c']) write(`G/${name}`, name)
    const applyAs = (set: string, ...flags: string[]) =>
      here.terminal.run(['config', 'apply', '-f', directory, '--set', set, '-n', tenant, ...flags])
    for (const set of ['first', 'second']) expect((await applyAs(set)).code).toBe(0)
    await publish('waypost.sets', 'damaged', 'not a record')
    rmSync(join(directory, 'G', 'c'))
    write('G/b', 'changed')
    write('G/d', 'd')
    const third = await applyAs('third', '--dry-run')
    expect(third.out).toBe(
      '+ G/d\n~ G/b  (also in the sets first, second)\n  G/a  (also in the sets first, second)\n' +
        '1 to create, 1 to change, 0 to delete, 1 equal\n',
    )
    const { out } = await applyAs('first', '--dry-run')
    expect(out).toContain('~ G/b  (also in the set second)\n')
    expect(out).toContain('  G/c  (no longer in the directory: --prune deletes it; also in the set second)\n')
    expect(JSON.parse((await applyAs('first', '--dry-run', '-o', 'json')).out)).toMatchObject({
      shared: ['G/a', 'G/b', 'G/c'],
    })
  }, 60_000)

  test('takes types and descriptions from the metadata of an export', async () => {
    await here.svc.post('/cs/configs', {
      tenant,
      group: 'G',
      dataId: 'a',
      content: 'x',
      type: 'json',
      desc: 'old',
      config_tags: 'k',
    })
    const metadata = (desc: string): string =>
      `metadata:\n- appName: shop\n  dataId: a\n  desc: ${desc}\n  group: G\n  type: yaml\n`
    write('G/a', 'x')
    write('.metadata.yml', metadata('new'))
    expect((await apply()).out).toContain('~ G/a\n')
    const item = (await here.svc.get('/cs/configs', { tenant, group: 'G', dataId: 'a', show: 'all' })).json()
    expect(item).toMatchObject({ type: 'yaml', desc: 'new', appName: 'shop', configTags: 'k' })
    expect((await apply('--dry-run')).code).toBe(0)
    write('.metadata.yml', 'metadata: 5')
    expect((await apply()).err).toContain('.metadata.yml')
  })
})

const UNKNOWN_TYPE = 'metadata:\n- group: G\n  dataId: "0"\n  type: markdown\n'

describe('nothing is sent of a directory with a fault', () => {
  test.each([
    ['a blank file', 'G/a', ' \n', /G\/a is blank/],
    ['too deep a file', 'G/H/a', 'x', /H is a directory: items are DIR\/GROUP\/DATA_ID/],
    ['bytes that are no text', 'G/a', Buffer.from([0xff]), /is not UTF-8/],
    ['a blank in a name', 'G/ a.yml', 'x', /No item can be called "G\/ a\.yml"/],
    ['a name of no item', '@eaDir/a (1).yml', 'x', /No item can be called "@eaDir\/a \(1\)\.yml"/],
    ['an unknown type', '.metadata.yml', UNKNOWN_TYPE, /"G\/0": the type "markdown" is none of/],
  ] as const)('%s', async (...[, name, content, message]) => {
    write('G/0', 'fine')
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), content)
    for (const flag of ['--dry-run', '--yes']) {
      const { code, err } = await apply(flag)
      expect([code, err]).toEqual([2, expect.stringMatching(message)])
    }
    expect(await here.terminal.ok('config', 'list', '-n', tenant, '-o', 'name')).toBe('')
  })

  test('a directory that is not there', async () => {
    const { code } = await here.terminal.run(['config', 'apply', '-f', join(directory, 'none'), '--set', 'x'])
    expect(code).toBe(1)
  })
})

const script = needTool('script')

describe.skipIf(script.skip)('on a terminal', () => {
  const args = (): string[] => ['config', 'apply', '-f', directory, '--set', 'shop', '-n', tenant]

  test('somebody is asked', async () => {
    write('G/a', 'x')
    const no = await here.terminal.onTerminal(args(), 'n\r')
    expect([no.code, no.out]).toEqual([2, expect.stringContaining('Do this? [y/N]')])
    expect(await here.terminal.ok('config', 'list', '-n', tenant, '-o', 'name')).toBe('')
    const yes = await here.terminal.onTerminal(args(), 'y\r')
    expect([yes.code, yes.out]).toEqual([0, expect.stringContaining('1 created')])
  })

  test('what somebody changes after the plan stays, and the next apply continues', async () => {
    for (const name of ['a', 'b', 'c']) write(`G/${name}`, 'new')
    for (const name of ['b', 'c']) await publish('G', name, 'old')
    const applying = here.terminal.startOnTerminal(args())
    await applying.printed('Do this?')
    await publish('G', 'b', 'theirs')
    applying.type('y\r')
    expect(await applying.ended()).toBe(1)
    expect(applying.out).toMatch(/G\/b: .* 1 of 3 items are done\. Apply again to continue\./)
    expect([await contentOf('G', 'b'), await contentOf('G', 'c')]).toEqual(['theirs', 'old'])
    // The applied items are recorded: they may be pruned.
    rmSync(join(directory, 'G', 'a'))
    const again = await apply('--prune', '--yes')
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('0 created, 2 changed, 1 deleted')])
  })
})
