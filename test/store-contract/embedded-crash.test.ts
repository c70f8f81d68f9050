import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Inside the project, where its packages are found. */
const BUNDLED = join(ROOT, '.cache', `crash-writer-${process.pid}`)
const ROUNDS = 5
const ACKNOWLEDGED_PER_ROUND = 150
const log = { info() {}, warn() {}, error() {} }

/** An acknowledged commit: whose, which, and its record. */
interface Acknowledged {
  readonly dataId: string
  readonly number: string
  readonly historyId: number
}

test('nothing that was acknowledged is lost to kill -9 under load', { timeout: 60_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'waypost-crash-'))
  try {
    await bundleWriter()
    for (let round = 0; round < ROUNDS; round++) {
      const acknowledged = await killedWriter(directory, round)
      expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED_PER_ROUND)
      await expectAllThere(directory, acknowledged)
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
    await rm(BUNDLED, { recursive: true, force: true })
  }
})

/** Bundles the writer and the thread of its store. */
async function bundleWriter(): Promise<void> {
  const { bundle, STORE_ENTRIES } = (await import(pathToFileURL(join(ROOT, 'scripts/bundle.js')).href)) as {
    bundle(entries: Readonly<Record<string, string>>, directory: string): Promise<unknown>
    STORE_ENTRIES: Readonly<Record<string, string>>
  }
  await bundle({ writer: 'test/store-contract/crash-writer.mjs', ...STORE_ENTRIES }, BUNDLED)
}

/** Starts a writer and kills it in the middle of its work; answers what it said was acknowledged. */
async function killedWriter(directory: string, round: number): Promise<Acknowledged[]> {
  const writer = spawn(process.execPath, [join(BUNDLED, 'writer.js'), directory, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => writer.once('close', resolve))
  let output = ''
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (output.split('\n').length > ACKNOWLEDGED_PER_ROUND) writer.kill('SIGKILL')
  })
  await ended
  // The last line may be cut off.
  const lines = output.split('\n').slice(0, -1)
  return lines.map((line) => {
    const [dataId = '', number = '', historyId] = line.split(':')
    return { dataId, number, historyId: Number(historyId) }
  })
}

async function expectAllThere(directory: string, acknowledged: readonly Acknowledged[]): Promise<void> {
  const store = await openEmbeddedStore({ directory, log })
  try {
    const { configs } = await store.load()
    for (const { dataId, number, historyId } of acknowledged) {
      const item = configs.find(({ key }) => key.dataId === dataId)
      // The last acknowledged version or one after it, and every record.
      expect(item?.historyId).toBeGreaterThanOrEqual(historyId)
      const record = await store.reads('test').historyRecord(historyId)
      expect(record?.key.dataId).toBe(dataId)
      if (record?.op === 'I') expect(record.content.toString()).toContain(`${number} `)
    }
  } finally {
    await store.close()
  }
}
