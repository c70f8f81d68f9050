/** Archives and directories that people have unpacked and packed again, in the terminal. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
import { filesIn, raw } from '../interface/transfer-support.ts'
import { described, type Files, KOREAN, REFUSED, REPACKED, WITHOUT_ITEMS } from '../support/repacked.ts'
import { sampled } from '../support/sampled.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { terminalForThisFile } from './terminal.ts'

const here = terminalForThisFile()

async function newNamespace(): Promise<string> {
  const id = unique('ns')
  await here.svc.post('/console/namespaces', { customNamespaceId: id, namespaceName: id })
  return id
}

/** The items on the server, without records of sets. */
async function contentsIn(tenant: string): Promise<Record<string, string>> {
  const query = { search: 'blur', tenant, dataId: '', group: '', pageNo: 1, pageSize: 100 }
  const { pageItems } = (await here.svc.get('/cs/configs', query)).json()
  const names = (pageItems as { group: string; dataId: string }[]).filter(
    ({ group }) => group !== 'waypost.sets',
  )
  const contents = names.map(async ({ group, dataId }) => {
    const { text } = await here.svc.get('/cs/configs', { tenant, group, dataId })
    return [`${group}/${dataId}`, text] as const
  })
  return Object.fromEntries(await Promise.all(contents))
}

async function requireApp(tenant: string, names: readonly string[], appName = ''): Promise<void> {
  for (const name of appName === '' ? [] : names) {
    const [group, dataId] = name.split('/')
    const item = await here.svc.get('/cs/configs', { tenant, group, dataId, show: 'all' })
    expect(item.json()).toMatchObject({ appName })
  }
}

function directoryOf(files: Files): string {
  const directory = temporaryDirectory('repacked-')
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), content)
  }
  return directory
}

async function zipFile(files: Files): Promise<string> {
  const file = join(temporaryDirectory('repacked-'), 'configs.zip')
  writeFileSync(file, await raw(files))
  return file
}

const nameText = ({ group, dataId }: { group: string; dataId: string }): string => `${group}/${dataId}`

const COMMANDS = [['import'], ['config', 'import']] as const
const byCommand = <One extends object>(all: readonly One[]) =>
  all.flatMap((one) => COMMANDS.map((command) => ({ ...one, command })))
const commandOf = ({ command }: { readonly command: readonly string[] }): string => command.join(' ')
const apply = (directory: string, tenant: string, ...flags: string[]) =>
  here.terminal.run(['config', 'apply', '-f', directory, '--set', 'shop', '-n', tenant, ...flags])

describe('an import of', () => {
  test.each(
    sampled(
      REPACKED.map((one, index) => ({ ...one, command: COMMANDS[index % 2]! })),
      commandOf,
    ),
  )(
    '$name',
    async ({ files, items, leftOut = [], isMissing = false, readAs = [], folder, appName, command }) => {
      const tenant = await newNamespace()
      const args = [...command, '--from', await zipFile(files), '-n', tenant, '-o', 'json']
      const { code, out, err } = await here.terminal.run(args)
      expect([code, err]).toEqual([isMissing ? 1 : 0, ''])
      const json = JSON.parse(out)
      expect(json).toMatchObject({
        published: Object.keys(items).length,
        unrecognized: leftOut,
        folder: folder ?? '',
      })
      expect((json.missing as string[]).length > 0).toBe(isMissing)
      expect((json.readAs as { group: string; dataId: string }[]).map(nameText)).toEqual(readAs)
      expect(await contentsIn(tenant)).toEqual(items)
      await requireApp(tenant, Object.keys(items), appName)
    },
  )

  const withoutItems = [...WITHOUT_ITEMS, { name: 'nothing', files: {}, names: 'it is empty' }]

  test.each(sampled(byCommand(withoutItems), commandOf))(
    '$name ends with 1: $command',
    async ({ files, names, command }) => {
      const ran = await here.terminal.run([
        ...command,
        '--from',
        await zipFile(files),
        '-n',
        await newNamespace(),
      ])
      expect([ran.code, ran.out]).toEqual([1, ''])
      expect(ran.err).toContain(names)
      expect(ran.err).toContain('Expected is GROUP/DATA_ID')
    },
  )

  test.each(sampled(byCommand(REFUSED), commandOf))(
    '$name publishes nothing: $command',
    async ({ files, words, command }) => {
      const tenant = await newNamespace()
      const args = [...command, '--from', await zipFile(files), '-n', tenant]
      const { code, out, err } = await here.terminal.run(args)
      expect([code, out]).toEqual([1, ''])
      for (const word of words) expect(err).toContain(word)
      expect(await contentsIn(tenant)).toEqual({})
    },
  )

  test('names say why they are not imported, or how they are read', async () => {
    const files = {
      'G/b c': 'x',
      [`G/${KOREAN.decomposed}`]: 'x',
      'G/.DS_Store': 'x',
      '.metadata.yml': described('G/l', `G/${KOREAN.composed}`),
    }
    const args = ['--from', await zipFile(files), '-n', await newNamespace()]
    const { code, out } = await here.terminal.run(['config', 'import', ...args])
    expect(code).toBe(1)
    expect(out).toBe(
      '1 items imported, 0 skipped, 0 in conflict\n' +
        '  not recognised: G/b c (not named GROUP/DATA_ID, or by no name of an item)\n' +
        '  not recognised: G/l (in the metadata, but not in the file)\n' +
        '  left out: G/.DS_Store (of a system or an editor)\n' +
        `  read as this name: that of the file is in another form of Unicode, as macOS writes it: G/${KOREAN.composed}\n`,
    )
  })

  test.each(COMMANDS.map((command) => ({ command })))(
    'an unknown type is named: $command',
    async ({ command }) => {
      const metadata = described('G/new.yml', 'G/b.yml').replace('yaml', 'mark\u202Edown')
      const file = await zipFile({ 'G/new.yml': 'a: 1', 'G/b.yml': 'b: 1', '.metadata.yml': metadata })
      const tenant = await newNamespace()
      const args = [...command, '--from', file, '-n', tenant]
      const named = '  unknown type, a new item has the type of its name: G/new.yml (mark?down)\n'
      expect(await here.terminal.ok(...args, '--dry-run')).toContain(named)
      expect(await here.terminal.ok(...args)).toBe(`2 items imported, 0 skipped, 0 in conflict\n${named}`)
      const item = await here.svc.get('/cs/configs', { tenant, group: 'G', dataId: 'new.yml', show: 'all' })
      expect(item.json()).toMatchObject({ type: 'yaml' })
      const json = JSON.parse((await here.terminal.run([...args, '--policy', 'overwrite', '-o', 'json'])).out)
      expect(json.unknownTypes).toMatchObject([{ group: 'G', dataId: 'new.yml' }])
    },
  )

  test('a folder says that it was taken off', async () => {
    const file = await zipFile({ 'export/A/x.yml': 'a: 1', 'export/B/y.yml': 'b: 1' })
    const out = await here.terminal.ok('config', 'import', '--from', file, '-n', await newNamespace())
    expect(out).toBe(
      'The folder "export" on top counts for nothing: the groups are inside it.\n' +
        '2 items imported, 0 skipped, 0 in conflict\n',
    )
  })
})

describe('an apply of', () => {
  const onDisk = REPACKED.filter(({ files, isZipOnly = false }) => {
    // A directory with two files of one item is refused, and no directory has some names of zip files.
    if (isZipOnly || ('G/.metadata.yml' in files && 'G/%2Emetadata.yml' in files)) return false
    return Object.keys(files).every((name) => name.length < 200 && !/\\|^\.\.?\/|\/\/|\.\.$/.test(name))
  })

  test.each(sampled(onDisk))('$name', async ({ files, items, readAs = [], folder, appName }) => {
    const tenant = await newNamespace()
    // A name that no item has is a fault of a directory.
    const valid = Object.fromEntries(Object.entries(files).filter(([name]) => !/%2e|%2F/.test(name)))
    const { code, out, err } = await apply(directoryOf(valid), tenant)
    expect([code, err]).toEqual([0, ''])
    expect(await contentsIn(tenant)).toEqual(items)
    await requireApp(tenant, Object.keys(items), appName)
    for (const name of readAs) expect(out).toContain(`  ${name}  (read as this name: `)
    if (folder !== undefined) expect(out).toContain(`The folder "${folder}" on top counts for nothing`)
  })

  test.each([
    ['exportV2', '.metadata.yml'],
    ['export', '.meta.yml'],
  ])('an unpacked %s is whole, with its dot names and without the records of sets', async (layout) => {
    const [from, to] = [await newNamespace(), await newNamespace()]
    const names = [
      'G/.env',
      'G/.env.production',
      '.hidden/x',
      'G/..',
      '../.profile',
      'G/desktop.ini',
      '.metadata.yml/x',
      'G/.DS_Store',
      'G/Thumbs.db',
      `G/${KOREAN.decomposed}.yml`,
    ]
    for (const name of names) {
      const [group, dataId] = name.split('/')
      await here.svc.post('/cs/configs', { tenant: from, group, dataId, content: `content of ${name}` })
    }
    expect(await apply(directoryOf({ 'S/app.yml': 'a: 1' }), from)).toMatchObject({ code: 0 })
    const reply = await here.svc.get('/cs/configs', { [layout]: true, tenant: from })
    const unpacked = directoryOf(await filesIn(reply.bytes))
    expect(await apply(unpacked, to)).toMatchObject({ code: 0, err: '' })
    expect(await contentsIn(to)).toEqual(await contentsIn(from))
    expect(Object.keys(await contentsIn(to))).toHaveLength(names.length + 1)
  })

  test('--prune deletes nothing that a left-out file may mean', async () => {
    const tenant = await newNamespace()
    const names = ['G/.DS_Store', 'G/gone', `G/${KOREAN.decomposed}`, '.hidden/x']
    const files = Object.fromEntries(names.map((name) => [name, `content of ${name}`]))
    const directory = directoryOf({ ...files, '.metadata.yml': described(...names) })
    expect(await apply(directory, tenant)).toMatchObject({ code: 0, err: '' })
    for (const name of ['.metadata.yml', 'G/gone']) rmSync(join(directory, name))
    const { out } = await apply(directory, tenant, '--dry-run')
    expect(out).toContain('  .hidden/x  (a name in the directory may mean it: --prune refuses)\n')
    expect(out).toContain('  G/gone  (no longer in the directory: --prune refuses, as names are unclear)\n')
    const refused = await apply(directory, tenant, '--prune', '--yes')
    expect([refused.code, refused.out]).toEqual([2, ''])
    expect(refused.err).toContain(
      `--prune would delete .hidden/x, G/.DS_Store, G/${KOREAN.decomposed}, and the directory has such names`,
    )
    expect(Object.keys(await contentsIn(tenant)).toSorted()).toEqual(names.toSorted())
    for (const name of names.slice(0, 4)) rmSync(join(directory, name), { force: true })
    writeFileSync(join(directory, 'G/new'), 'x')
    expect(await apply(directory, tenant, '--prune', '--yes')).toMatchObject({ code: 0 })
    expect(await contentsIn(tenant)).toEqual({ 'G/new': 'x' })
  })

  const oneFileOfTwo = [
    ['without metadata', ['G/App', 'G/app'], {}],
    ['with metadata', ['G/App', 'G/app'], { '.metadata.yml': described('G/App', 'G/app') }],
    ['with metadata of one', ['G/App', 'G/app'], { '.metadata.yml': described('G/App') }],
    ['in the first layout', ['G/App', 'G/app'], { '.meta.yml': 'G.App.app=shop\r\nG.app.app=shop\r\n' }],
    ['in another group', ['G/a', 'g/A'], {}],
  ] as const

  test.each(sampled(oneFileOfTwo))(
    'nothing changes where a system without case has put two items into one file: %s',
    async (...[, [listed, lost], metadata]) => {
      const tenant = await newNamespace()
      const directory = directoryOf({ [listed]: 'a', [lost]: 'b', ...metadata })
      expect(await apply(directory, tenant)).toMatchObject({ code: 0 })
      rmSync(join(directory, lost))
      writeFileSync(join(directory, listed), 'b')
      writeFileSync(join(directory, 'G/new'), 'c')
      for (const flags of [[], ['--dry-run'], ['--prune', '--yes']]) {
        const { code, out, err } = await apply(directory, tenant, ...flags)
        expect([code, out]).toEqual([2, ''])
        expect(err.replaceAll(/(?<=G)\.|\.app(?=")/g, (dot) => (dot === '.' ? '/' : ''))).toContain(
          `no file of this name, but one that differs by case only: "${lost}" ("${listed}")`,
        )
      }
      expect(await contentsIn(tenant)).toEqual({ [listed]: 'a', [lost]: 'b' })
    },
  )

  test('an item whose only file differs by case is deleted by `config delete`', async () => {
    const tenant = await newNamespace()
    expect(await apply(directoryOf({ 'G/App': 'a', 'G/app': 'b' }), tenant)).toMatchObject({ code: 0 })
    await here.terminal.ok('config', 'delete', 'G/app', '-n', tenant, '--yes')
    expect(await apply(directoryOf({ 'G/App': 'a' }), tenant, '--prune', '--yes')).toMatchObject({ code: 0 })
    expect(await contentsIn(tenant)).toEqual({ 'G/App': 'a' })
  })

  test('a description without a file is named, and metadata of the first layout is read', async () => {
    const tenant = await newNamespace()
    const first = directoryOf({ 'G/a.yml': 'a: 1', 'G/.DS_Store': 'x', '.meta.yml': 'G.a~yml.app=shop\r\n' })
    expect((await apply(first, tenant)).out).toBe(
      '+ G/a.yml\n1 to create, 0 to change, 0 to delete, 0 equal\n1 created, 0 changed, 0 deleted\n',
    )
    const item = await here.svc.get('/cs/configs', { tenant, group: 'G', dataId: 'a.yml', show: 'all' })
    expect(item.json()).toMatchObject({ appName: 'shop', type: 'yaml' })
    const second = directoryOf({ 'G/a.yml': 'a: 1', '.metadata.yml': described('G/a.yml', 'G/b') })
    const { code, out } = await apply(second, tenant)
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('  G/b  (left out: in the metadata, but not in the directory)\n'),
    ])
  })

  const refused = [
    ['described twice', { 'G/a': 'a', '.metadata.yml': described('G/a', 'G/a') }, ['described twice: "G/a"']],
    [
      'no text',
      { 'G/a': 'a', 'G/b.bak': '\0', 'G/c': Buffer.from([0xff]), 'G/d': Buffer.from([0xfe]), 'G/4913': '' },
      ['G/c is not UTF-8', 'G/d is not UTF-8', 'G/4913 is blank'],
    ],
    [
      'two forms of a name',
      { [`G/${KOREAN.composed}`]: 'a', [`G/${KOREAN.decomposed}`]: 'b' },
      ['is there twice'],
    ],
    [
      'an application that is too long',
      { 'G/a': 'a', '.meta.yml': `G.a.app=${'x'.repeat(1000)}\r\n` },
      ['.meta.yml, "G/a": appName'],
    ],
    ['metadata that is no text', { 'G/a': 'a', '.metadata.yml': Buffer.from([0xff, 0xfe]) }, ['not UTF-8']],
    ...REFUSED.filter(({ name }) => /twice|such items|without case/.test(name)).map(
      ({ name, files, words }) => [name, files, words] as const,
    ),
  ] as const

  test.each(sampled(refused))('nothing is sent of %s', async (...[, files, words]) => {
    const tenant = await newNamespace()
    const { code, err } = await apply(directoryOf(files), tenant)
    expect(code).toBe(2)
    for (const word of words) expect(err).toContain(word)
    expect(await contentsIn(tenant)).toEqual({})
  })

  test('a directory names what it leaves out', async () => {
    const directory = directoryOf({
      'G/a.yml': 'a: 1',
      'G/.metadata.yml': described('G/a.yml'),
      'G/.cache/x': 'x',
      'G/.not a name': 'x',
      '.github/workflow.yml': 'x',
      '.gitignore': 'x',
      'waypost.sets/shop': '{"items":{}}',
      '..2026_1/b.yml': 'b: 1',
    })
    const { code, out, err } = await apply(directory, await newNamespace(), '--dry-run')
    expect([code, err]).toEqual([1, ''])
    expect(out).toBe(
      '  .github  (left out: hidden)\n' +
        '  G/.cache  (left out: a hidden directory)\n' +
        '  G/.metadata.yml  (left out: metadata belongs on top)\n' +
        '  G/.not a name  (left out: no data id)\n' +
        '  waypost.sets  (left out: records of sets stay in their namespace)\n' +
        '+ G/a.yml\n1 to create, 0 to change, 0 to delete, 0 equal\n',
    )
  })

  test('a directory without an item ends with 1', async () => {
    const tenant = await newNamespace()
    for (const [files, names] of [
      [{}, 'it is empty'],
      [{ '.DS_Store': 'x', 'Thumbs.db': 'x' }, '".DS_Store", "Thumbs.db"'],
      [{ 'waypost.sets/shop': '{"items":{}}' }, '"waypost.sets"'],
    ] as const) {
      const { code, out, err } = await apply(directoryOf(files), tenant)
      expect([code, out]).toEqual([1, ''])
      expect(err).toContain(names)
    }
  })
})

test('contents that are too large are all named before anything changes', async () => {
  const tenant = await newNamespace()
  const large = 'a'.repeat(10 * 1024 * 1024 + 1)
  const files = { 'A/first': 'x', 'G/large': large, 'G/larger': `${large}a` }
  const from = await zipFile(files)
  for (const ran of [
    await apply(directoryOf(files), tenant),
    await here.terminal.run(['config', 'import', '--from', from, '-n', tenant]),
  ]) {
    expect([ran.code, ran.out]).toEqual([2, ''])
    expect(ran.err).toContain('G/large has 10485761 bytes.')
    expect(ran.err).toContain('G/larger has 10485762 bytes.')
    expect(ran.err).toContain('at most 10485760 bytes in one content (max-content)')
  }
  expect(await contentsIn(tenant)).toEqual({})
}, 60_000)
