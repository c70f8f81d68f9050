// Writes until it is killed: `node crash-writer.mjs <directory> <round>`. Says each commit that was
// acknowledged, `<writer>:<number>` a line. Runs the built store, as a server does.
import { createHash } from 'node:crypto'
import { configKey } from '../../dist/core/config/config-item.js'
import { NO_NOTES } from '../../dist/core/config/config-notes.js'
import { historyIdOf, itemIdOf, Stamps } from '../../dist/core/stamps.js'
import { openEmbeddedStore } from '../../dist/store/embedded/embedded-store.js'

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
