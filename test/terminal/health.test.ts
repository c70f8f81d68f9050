/** `waypost health`, as container managers call it: with the environment of the server, and nothing else. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Authority } from '../support/certificates.ts'
import { needTool } from '../support/need-tool.ts'
import { freePort, startWaypost, temporaryDirectory } from '../support/waypost.ts'
import { Terminal } from './terminal.ts'

const openssl = needTool('openssl')
const terminal = new Terminal()

describe('health', () => {
  test('says that a server answers, and that it is ready, without signing in', async () => {
    const waypost = await startWaypost({ settings: { auth: 'on' } })
    const env = { WAYPOST_PORT: String(waypost.port), WAYPOST_HOST: '0.0.0.0' }
    expect(await terminal.run(['health'], '', env)).toMatchObject({
      code: 0,
      out: `${waypost.url} answers\n`,
    })
    const ready = await terminal.run(['health', '--ready', '--port', String(waypost.port)])
    expect(ready).toMatchObject({ code: 0, out: `${waypost.url} is ready\n` })
    await waypost.stop()
    expect(await terminal.run(['health'], '', env)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^waypost: .* does not answer: .*ECONNREFUSED/),
    })
  })

  test('is no where the port belongs to something else, and a failure where the settings are wrong', async () => {
    const port = await freePort()
    const file = join(temporaryDirectory('health-'), 'waypost.conf')
    writeFileSync(file, `port=${port}\n`)
    expect((await terminal.run(['health', '--settings', file])).err).toContain(`127.0.0.1:${port} does not`)
    expect(await terminal.run(['health', '--port', 'many'])).toMatchObject({ code: 2 })
    expect(await terminal.run(['health', '--port', '0'])).toMatchObject({ code: 2 })
  })

  test.skipIf(openssl.skip)('speaks TLS to a server whose authority it does not know', async () => {
    const { cert, key } = new Authority().forServer()
    const waypost = await startWaypost({ settings: { 'tls-cert': cert, 'tls-key': key } })
    const env = { WAYPOST_PORT: String(waypost.port), WAYPOST_TLS_CERT: cert, WAYPOST_TLS_KEY: key }
    expect(await terminal.run(['health'], '', env)).toMatchObject({
      code: 0,
      out: `${waypost.url} answers\n`,
    })
    await waypost.stop()
  })
})
