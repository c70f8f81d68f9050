/** What goes on for longer than a token counts, while the server restarts. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { sleep, until } from './report.js'

const group = 'DEFAULT_GROUP'
const quiet = { info() {}, debug() {}, warn() {}, error() {} }
const lastingMs = Number(process.env.TEST_LASTING)

/** The checks, as pairs of a name and an async function. */
export function lastingChecks({ library, address, scratch, run, options }) {
  const config = (namespace = '') => {
    const place = { serverAddr: address, namespace, cacheDir: join(scratch, `lasting-${namespace}`) }
    const client = new library.DataClient({ ...place, requestTimeout: 5000, ...options })
    client.on('error', (error) => process.stderr.write(`${error.message}\n`))
    return client
  }
  const naming = async () => {
    const client = new library.NacosNamingClient({
      logger: quiet,
      serverList: address,
      namespace: 'public',
      ...options,
    })
    client.on('error', (error) => process.stderr.write(`${error.message}\n`))
    await client.ready()
    return client
  }

  return [
    [
      'sign-in: a watcher hears of changes after its token has been replaced',
      async () => {
        const client = config()
        await client.publishSingle(`lasting-${run}`, group, 'first')
        let seen
        client.subscribe({ dataId: `lasting-${run}`, group }, (content) => (seen = content))
        await until('the first content', () => seen === 'first', 5_000)
        await sleep(lastingMs)
        assert.equal(await client.publishSingle(`lasting-${run}`, group, 'last'), true)
        return until('the last content', () => seen === 'last', 5_000)
      },
    ],
    [
      'sign-in: beats keep an instance after the token has been replaced',
      async () => {
        const client = await naming()
        await client.registerInstance(`lasting-${run}`, { ip: '127.0.0.1', port: 8080 })
        await sleep(lastingMs)
        const reader = await naming()
        const hosts = await reader.getAllInstances(`lasting-${run}`, undefined, undefined, false)
        assert.deepEqual(
          hosts.map(({ healthy }) => healthy),
          [true],
        )
      },
    ],
    [
      'sign-in: what the user has no permission for is refused',
      async () => {
        await assert.rejects(config('forbidden').publishSingle(`refused-${run}`, group, 'x'))
      },
    ],
  ]
}
