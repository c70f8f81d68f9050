/** What a user does with configurations through the npm client. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { until } from './report.js'

const awkward = 'plain=1\r\nplus=a+b\n%percent=100%\n%41&x=y;z\t"quoted" \\back\u00fcmlaut 日本語 😀\n\n'

/** The checks, as pairs of a name and an async function. */
export function configChecks({ library, address, scratch, run, options: given }) {
  const group = 'DEFAULT_GROUP'
  let clients = 0
  const options = (namespace) => ({
    serverAddr: address,
    namespace,
    cacheDir: join(scratch, `config-${clients++}`),
    requestTimeout: 5000,
    ...given,
  })
  // Only the first NacosConfigClient has a connection of its own; DataClient is the same client without the sharing.
  const shared = new library.NacosConfigClient(options(''))
  const connect = (namespace = '') => {
    const client = new library.DataClient(options(namespace))
    client.on('error', (error) => process.stderr.write(`${error.message}\n`))
    return client
  }
  shared.on('error', (error) => process.stderr.write(`${error.message}\n`))

  async function roundTrip(client, dataId, content, settings) {
    assert.equal(await client.publishSingle(dataId, group, content, settings), true)
    assert.equal(await client.getConfig(dataId, group), content)
  }

  async function seesChanges(namespace) {
    const dataId = `watched-${namespace}-${run}`
    const elsewhere = connect(namespace)
    await elsewhere.publishSingle(dataId, group, 'first')
    const seen = []
    const watcher = connect(namespace)
    watcher.subscribe({ dataId, group }, (content) => seen.push(content))
    await until('the first content', () => seen.at(-1) === 'first', 3000)
    await new Promise((resolve) => setTimeout(resolve, 500))
    await elsewhere.publishSingle(dataId, group, awkward)
    const tookMs = await until('the change', () => seen.at(-1) === awkward, 3000)
    await elsewhere.publishSingle(dataId, group, 'third')
    await until('the second change', () => seen.at(-1) === 'third', 3000)
    await elsewhere.remove(dataId, group)
    await until('the removal', () => seen.at(-1) === null, 3000)
    watcher.close()
    return `change seen after ${tookMs} ms`
  }

  return [
    [
      'config: published content is read back',
      async () => roundTrip(shared, `read-${run}`, 'a: 1', { type: 'yaml' }),
    ],
    [
      'config: an update replaces the content',
      async () => {
        await roundTrip(shared, `update-${run}`, 'one')
        await roundTrip(connect(), `update-${run}`, 'two')
        assert.equal(await shared.getConfig(`update-${run}`, group), 'two')
      },
    ],
    [
      'config: awkward content comes back byte for byte',
      async () => roundTrip(shared, `awkward-${run}`, awkward),
    ],
    [
      'config: a large content comes back',
      async () => roundTrip(connect(), `large-${run}`, `${awkward}${'ü+%'.repeat(400_000)}`),
    ],
    [
      'config: what does not exist is absent',
      async () => assert.equal(await shared.getConfig(`missing-${run}`, group), null),
    ],
    [
      'config: a removed item is absent',
      async () => {
        await roundTrip(shared, `removed-${run}`, 'x')
        assert.equal(await shared.remove(`removed-${run}`, group), true)
        assert.equal(await connect().getConfig(`removed-${run}`, group), null)
        assert.equal(await shared.remove(`removed-${run}`, group), true, 'removing twice')
      },
    ],
    [
      'config: namespaces and groups are separate',
      async () => {
        const other = connect('other-namespace')
        await roundTrip(shared, `apart-${run}`, 'in public')
        assert.equal(await other.getConfig(`apart-${run}`, group), null)
        await roundTrip(other, `apart-${run}`, 'in other')
        assert.equal(await connect('public').getConfig(`apart-${run}`, group), 'in public')
        assert.equal(await shared.getConfig(`apart-${run}`, 'G2'), null)
      },
    ],
    ['config: a watcher sees changes made elsewhere', async () => seesChanges('')],
    [
      'config: a watcher in a namespace sees changes made elsewhere',
      async () => seesChanges('watched-namespace'),
    ],
    [
      'config: the shared client sees an item appear',
      async () => {
        const dataId = `appears-${run}`
        const seen = []
        shared.subscribe({ dataId, group }, (content) => seen.push(content))
        await new Promise((resolve) => setTimeout(resolve, 600))
        await connect().publishSingle(dataId, group, 'here')
        await until('the new item', () => seen.at(-1) === 'here', 3000)
      },
    ],
  ]
}
