/** What is large: a content as long as one may be, and a poll of very many items. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { sleep, until } from './report.js'

const group = 'DEFAULT_GROUP'
/** 10 MiB, every byte of which is escaped in a form. */
const content = '%+ü'.repeat((10 * 1024 * 1024) / 4)
const ITEMS = 3_000

/** The checks, as pairs of a name and an async function. */
export function largeChecks({ library, address, scratch, run, options }) {
  const connect = (folder) => {
    const place = { serverAddr: address, namespace: '', cacheDir: join(scratch, folder) }
    const client = new library.DataClient({ ...place, requestTimeout: 20_000, ...options })
    // Most of the items do not exist.
    client.on('error', () => undefined)
    return client
  }

  return [
    [
      'large: a content of 10 MiB is published and read back',
      async () => {
        const client = connect('large')
        assert.equal(await client.publishSingle(`large-${run}`, group, content), true)
        assert.equal((await client.getConfig(`large-${run}`, group)) === content, true)
      },
    ],
    [
      'large: a watcher of 3,000 items sees a change of one',
      async () => {
        const watcher = connect('watcher')
        let seen
        for (let at = 0; at < ITEMS; at++)
          watcher.subscribe({ dataId: `watched-${run}-${at}`, group }, (text) => (seen = text ?? seen))
        await sleep(10_000)
        const elsewhere = connect('elsewhere')
        assert.equal(await elsewhere.publishSingle(`watched-${run}-${ITEMS / 2}`, group, 'changed'), true)
        return until('the change', () => seen === 'changed', 30_000)
      },
    ],
  ]
}
