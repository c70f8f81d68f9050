// Writes until it is killed: `node crash-writer.js <directory> <round>`. Prints a line for each acknowledged commit,
// `<writer>:<number>`. The test bundles it, so that it runs the built store, as a server does.
import { createHash } from 'node:crypto'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { NO_NOTES } from '../../src/core/config/state/config-notes.ts'
import { historyIdOf, itemIdOf, Stamps } from '../../src/core/decisions/stamps.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'

const [directory, round] = process.argv.slice(2)
const log = { info() {}, warn() {}, error() {} }
const store = await openEmbeddedStore({ directory, log })
const { configs, largestStamp } = await store.load()
const stamps = new Stamps()
stamps.see(largestStamp)

for (let writer = 0; writer < 8; writer++) void write(`writer-${writer}`)

async function write(dataId) {
  let previous = configs.find((item) => item.key.dataId === dataId)
  for (let number = 0; ; number++) {
    const item = version(dataId, { number, previous })
    const op = previous === undefined ? 'I' : 'U'
    const operator = { ip: '127.0.0.1', user: null }
    await store.commit([[{ kind: 'config-published', op, item, previous, operator }]])
    process.stdout.write(`${dataId}:${round}-${number}:${item.historyId}\n`)
    previous = item
  }
}

function version(dataId, { number, previous }) {
  const stamp = stamps.next(1_795_000_000_000)
  const content = Buffer.from(`${round}-${number} ${'x'.repeat(1500)}`)
  return {
    key: configKey('public', 'g', dataId),
    origin: previous?.origin ?? {
      id: itemIdOf(stamp),
      createdMs: number,
      createUser: null,
      createIp: '127.0.0.1',
    },
    historyId: historyIdOf(stamp),
    content,
    md5: createHash('md5').update(content).digest('hex'),
    type: 'text',
    notes: NO_NOTES,
    modifiedMs: 1_795_000_000_000 + number,
  }
}
