import { cpSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { repair } from '../../src/store/embedded/doctor/repair.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import {
  commitAll,
  instanceSaved,
  sampleInstance,
  sampleService,
  serviceSaved,
} from '../store-contract/samples.ts'
import { runWaypost, startWaypost, temporaryDirectory } from '../support/waypost.ts'
import {
  alter,
  contentOf,
  contentsOf,
  diagnose,
  examined,
  fileOf,
  flipBit,
  overwrite,
  PAGE,
  instancesOf,
  leavesOf,
  pagesOfKind,
  placeOf,
  rootOf,
  sampleStore,
  zeroPage,
} from './damage.ts'

const COUNT = 60
let sound: string
beforeAll(async () => {
  sound = await sampleStore(COUNT)
})

/** Damages a copy, repairs it, and gives what a server then has. */
async function repaired(change: (file: string, directory: string) => void) {
  const directory = temporaryDirectory('damaged-')
  const target = `${directory}-repaired`
  cpSync(sound, directory, { recursive: true })
  change(fileOf(directory), directory)
  const found = examined(directory)
  repair(found, target, () => {})
  found.close()
  const contents = await contentsOf(target)
  return { examination: found.examination, contents, target }
}

function versionOf(content: string | undefined): number {
  return Number(/version (\d)/.exec(content ?? '')?.[1] ?? 0)
}

describe('a repair', () => {
  test('of a sound store gives the same store', async () => {
    const { contents, target } = await repaired(() => {})
    expect(contents).toEqual(
      new Map(Array.from({ length: COUNT }, (_, at) => [`item-${at}`, contentOf(at, 3)])),
    )
    expect(diagnose(temporaryCopy(target)).counts.damage).toBe(0)
  })

  test('falls back to the newest sound version of the one item whose current version is broken', async () => {
    const { contents } = await repaired((file) =>
      flipBit(file, placeOf(file, contentOf(5, 3).slice(0, 30)) + 12),
    )
    expect(contents.get('item-5')).toBe(contentOf(5, 2))
    expect([...contents].filter(([, content]) => versionOf(content) !== 3).map(([dataId]) => dataId)).toEqual(
      ['item-5'],
    )
  })

  test('of a page of zeros loses only the rows of that page', async () => {
    const { contents, examination } = await repaired((file) => {
      zeroPage(file, Math.floor(placeOf(file, contentOf(10, 3).slice(0, 30)) / PAGE) + 1)
    })
    const notNewest = [...contents].filter(([, content]) => versionOf(content) < 3).map(([dataId]) => dataId)
    const places = examination.findings.map(({ place }) => place)
    for (const dataId of notNewest) expect(places).toContain(`item public/g/${dataId}`)
    for (let at = 0; at < COUNT; at++) {
      if (!contents.has(`item-${at}`)) expect(places).toContain(`item public/g/item-${at}`)
    }
    expect(contents.size).toBeGreaterThan(COUNT - 5)
  })

  test('finds the pages below a broken page', async () => {
    const { contents } = await repaired((file) => {
      for (const page of pagesOfKind(file, 5)) zeroPage(file, page)
    })
    expect(contents.size).toBe(COUNT)
    expect([...contents.values()].every((content) => versionOf(content) === 3)).toBe(true)
  })

  test('of a table that has lost its root page saves the other tables', async () => {
    const { contents, examination } = await repaired((file) => zeroPage(file, rootOf(file, 'record')))
    expect(examination.findings).toContainEqual(
      expect.objectContaining({
        place: 'waypost.db, table record',
        problem: expect.stringMatching(/^The page where it begins cannot be read/),
        remedy: expect.stringContaining('waypost restore'),
      }),
    )
    expect(contents.size).toBe(COUNT)
  })

  test.each([
    ['config_name', 'the index'],
    ['config_item', 'history'],
  ])('of a lost table %s takes it from %s', async (table) => {
    const { contents } = await repaired((file) => zeroPage(file, rootOf(file, table)))
    expect([...contents.values()].map(versionOf)).toEqual(Array.from({ length: COUNT }, () => 3))
  })

  test('of a file without its first page is refused with advice', () => {
    const directory = temporaryCopy(sound)
    zeroPage(fileOf(directory), 1)
    const found = examined(directory)
    found.close()
    expect(found.examination.findings).toMatchObject([
      { place: 'waypost.db, page 1', remedy: expect.stringContaining('waypost restore') },
    ])
    expect(() => repair(found, `${directory}-repaired`, () => {})).toThrow(/nothing to repair/)
  })

  test('of a file that was cut keeps the remaining rows', async () => {
    const { contents, examination } = await repaired((file) =>
      truncateSync(file, Math.floor((statSync(file).size * 3) / 4)),
    )
    expect(examination.counts.damage).toBeGreaterThan(0)
    expect(contents.size).toBeGreaterThan(COUNT / 4)
    const places = examination.findings.map(({ place }) => place)
    for (let at = 0; at < COUNT; at++) {
      if (versionOf(contents.get(`item-${at}`)) < 3) expect(places).toContain(`item public/g/item-${at}`)
    }
  })

  test('takes names from the index, and items from their history', async () => {
    const { contents } = await repaired((_file, directory) =>
      alter(
        directory,
        'DELETE FROM config_item WHERE name_id = 7; PRAGMA writable_schema = ON; UPDATE config_name SET checksum = 1 WHERE id = 9',
      ),
    )
    expect(contents.get('item-6')).toBe(contentOf(6, 3))
    expect(contents.get('item-8')).toBe(contentOf(8, 3))
  })

  test('counts a page that exists twice once', async () => {
    const { contents } = await repaired((file) => {
      const [first = 0, second = 0] = pagesOfKind(file, 13).slice(-2)
      overwrite(file, (second - 1) * PAGE, readFileSync(file).subarray((first - 1) * PAGE, first * PAGE))
    })
    expect(contents.size).toBeGreaterThan(COUNT - 5)
  })

  test('keeps an item deleted whose record of the deletion is broken', async () => {
    const { contents, target } = await repaired((_file, directory) =>
      alter(
        directory,
        `DELETE FROM config_item WHERE name_id = 7;
         INSERT INTO config_revision SELECT 9001, name_id, item_id, 'D', id, NULL, NULL, NULL, NULL, '127.0.0.1', NULL, at_ms, 0, NULL, 1, NULL
         FROM config_revision WHERE name_id = 7 ORDER BY id DESC LIMIT 1`,
      ),
    )
    expect(contents.has('item-6')).toBe(false)
    expect(contents.size).toBe(COUNT - 1)
    expect(diagnose(temporaryCopy(target)).damage).toEqual([])
  })

  test('gives a directory in which a server starts and uses new ids', async () => {
    const { target, contents } = await repaired((file) =>
      flipBit(file, placeOf(file, contentOf(5, 3).slice(0, 30)) + 12),
    )
    const server = await startWaypost({ dataDir: target })
    const key = 'dataId=item-5&group=g'
    expect(await (await fetch(`${server.url}/svc/v1/cs/configs?${key}`)).text()).toBe(contents.get('item-5'))
    const answer = await fetch(`${server.url}/svc/v1/cs/configs?${key}&content=new`, { method: 'POST' })
    expect(answer.status).toBe(200)
    const history = await fetch(`${server.url}/svc/v1/cs/history?search=accurate&${key}&pageNo=1&pageSize=10`)
    const { pageItems } = (await history.json()) as { pageItems: { id: string }[] }
    expect(pageItems).toHaveLength(3)
    expect(Number(pageItems[0]?.id)).toBeGreaterThan(10_000)
    await server.stop()
    expect(diagnose(target).damage).toEqual([])
  })

  test('does not change the damaged directory, and exits with 1', async () => {
    const directory = temporaryCopy(sound)
    alter(directory, 'DELETE FROM config_item WHERE name_id = 7')
    const before = statSync(fileOf(directory)).mtimeMs
    const target = `${directory}-repaired`
    const { code, stdout } = await runWaypost(['doctor', '--data-dir', directory, '--repair', target])
    expect([code, stdout]).toEqual([1, expect.stringContaining(`Repaired into ${target}`)])
    expect(stdout).toContain('Repaired: It is rebuilt')
    expect(statSync(fileOf(directory)).mtimeMs).toBe(before)
    // It holds keys and hashes of passwords.
    expect(statSync(fileOf(target)).mode & 0o777).toBe(0o600)
    expect((await contentsOf(target)).get('item-6')).toBe(contentOf(6, 3))
  })
})

/** What damage is done, the doctor ends, says so, and what it saves is sound. */
test('of any flipped bit finds the damage or has no effect, and the doctor never fails', async () => {
  const size = statSync(fileOf(sound)).size
  for (let round = 0; round < 25; round++) {
    const at = Math.floor((size * round) / 25) + ((round * 7919) % 4096)
    const directory = temporaryCopy(sound)
    flipBit(fileOf(directory), at)
    const target = `${directory}-repaired`
    const found = examined(directory)
    const places = found.examination.findings.map(({ place }) => place)
    // The first page is given up.
    const isLost = at < PAGE && found.found === undefined
    if (isLost) expect(places, `bit at ${at}`).toEqual(['waypost.db, page 1'])
    else repair(found, target, () => {})
    found.close()
    if (isLost) continue
    const contents = await contentsOf(target)
    for (let item = 0; item < COUNT; item++) {
      if (contents.get(`item-${item}`) === contentOf(item, 3)) continue
      expect(places, `bit at ${at}`).toContain(`item public/g/item-${item}`)
    }
  }
}, 60_000)

function temporaryCopy(of: string): string {
  const directory = temporaryDirectory('copy-')
  cpSync(of, directory, { recursive: true })
  return directory
}

describe('a repair of instances', () => {
  const service = sampleService('shop', 7)
  const quiet = { info() {}, warn() {}, error() {} }

  /** A stopped store with instances 1 to 400, of which those up to 100 have left. */
  async function storeOfInstances(): Promise<string> {
    const directory = temporaryDirectory('instances-')
    const store = await openEmbeddedStore({ directory, log: quiet })
    await store.load()
    const saved = Array.from({ length: 400 }, (_, at) => instanceSaved(service, sampleInstance(at + 1), true))
    await commitAll(store, serviceSaved(service), ...saved)
    const left = { serviceKey: service.key, reason: 'expired', stamp: 0 } as const
    await commitAll(
      store,
      ...saved.slice(0, 100).map(({ record: { address, serial } }) => ({
        ...left,
        kind: 'instance-removed' as const,
        address,
        serial,
      })),
    )
    await store.close()
    return directory
  }

  async function serialsIn(directory: string): Promise<number[]> {
    return (await instancesOf(directory)).map(({ record }) => record.serial)
  }

  function repairedFrom(directory: string) {
    const target = `${directory}-repaired`
    const found = examined(directory)
    repair(found, target, () => {})
    found.close()
    return { target, findings: found.examination.findings }
  }

  test.each(['serial = 101', 'serial IN (200, 201)', 'serial = 400'])(
    'reports that rows are missing (%s), and gives a store that starts with all others',
    async (lost) => {
      const directory = await storeOfInstances()
      const before = await serialsIn(directory)
      alter(directory, `DELETE FROM instance WHERE ${lost}`)
      await expect(serialsIn(directory)).rejects.toThrow(/The table instance is damaged.*300 were written/)
      const { target, findings } = repairedFrom(directory)
      expect(findings.map(({ place }) => place)).toEqual(['waypost.db, table instance'])
      expect(findings[0]?.problem).toMatch(/^300 rows were written, 29[89] are there/)
      const serials = await serialsIn(target)
      expect(before).toEqual(expect.arrayContaining(serials))
      expect(serials).toHaveLength(Number(/(\d+) are there/.exec(findings[0]?.problem ?? '')?.[1]))
    },
  )

  test('finds the rows below a page that is broken, and no others', async () => {
    const directory = await storeOfInstances()
    const file = fileOf(directory)
    const root = rootOf(file, 'instance')
    expect(pagesOfKind(file, 5)).toContain(root)
    zeroPage(file, root)
    const { target } = repairedFrom(directory)
    expect(await serialsIn(target)).toEqual(Array.from({ length: 300 }, (_, at) => at + 101))
  })

  test('of a page of zeros loses the rows of that page, and restores no removed one', async () => {
    const directory = await storeOfInstances()
    const file = fileOf(directory)
    expect(pagesOfKind(file, 5)).toContain(rootOf(file, 'instance'))
    const leaves = leavesOf(file, 'instance')
    zeroPage(file, leaves[1] ?? 0)
    const { target, findings } = repairedFrom(directory)
    const [, from, to] =
      findings
        .map(({ place }) => /table instance, rows (\d+) to (\d+)$/.exec(place))
        .find((found) => found !== null) ?? []
    const all = Array.from({ length: 300 }, (_, at) => at + 101)
    const isLost = (serial: number) => serial >= Number(from) && serial <= Number(to)
    expect(await serialsIn(target)).toEqual(all.filter((serial) => !isLost(serial)))
    expect(all.filter(isLost).length).toBeLessThan(300 / (leaves.length - 1))
  })

  test('leaves out instances of a removed service', async () => {
    const directory = await storeOfInstances()
    const store = await openEmbeddedStore({ directory, log: quiet })
    await store.load()
    const other = sampleService('cart', 8)
    await commitAll(
      store,
      instanceSaved(other, sampleInstance(900), true),
      instanceSaved(service, sampleInstance(901), true),
    )
    await store.close()
    const { target } = repairedFrom(directory)
    expect((await serialsIn(target)).slice(-2)).toEqual([400, 901])
  })
})
