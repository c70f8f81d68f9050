/** How commands that watch end. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { needTool } from '../support/need-tool.ts'
import { Terminal } from './terminal.ts'

const script = needTool('script')
let server: Waypost
let terminal: Terminal

beforeAll(async () => {
  server = await startWaypost()
  terminal = new Terminal({ WAYPOST_SERVER: server.url })
})

afterAll(() => server?.stop())

describe.each(['config', 'service'])('%s watch', (what) => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'ends with 0 and whole lines at %s',
    async (signal) => {
      const watching = terminal.start([what, 'watch', '-o', 'json'])
      await watching.printed('watching public')
      const name = unique('watched')
      const body = new URLSearchParams(
        what === 'config'
          ? { group: 'G', dataId: name, content: 'x' }
          : { serviceName: name, ip: '10.0.0.7', port: '80', ephemeral: 'false' },
      )
      const path = what === 'config' ? '/svc/v1/cs/configs' : '/svc/v1/ns/instance'
      expect((await fetch(server.url + path, { method: 'POST', body })).status).toBe(200)
      await watching.printed(name)
      expect(await watching.signalled(signal)).toBe(0)
      for (const line of watching.out.trimEnd().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object')
      expect(watching.err).toMatch(/^watching public on [^\n]*\n$/)
    },
    60_000,
  )

  test('ends with 0 at a signal while the server is away', async () => {
    const away = await startWaypost()
    const watching = terminal.start([what, 'watch', '--server', away.url])
    await watching.printed('watching public')
    await away.stop()
    await watching.printed('Trying again.')
    expect(await watching.signalled('SIGINT')).toBe(0)
  }, 60_000)

  test.skipIf(script.skip)(
    `leaves a terminal at the start of a line after Ctrl-C ${script.reason}`,
    async () => {
      const watching = terminal.startOnTerminal([what, 'watch'])
      await watching.printed('Ctrl-C ends it')
      watching.type('\u0003')
      expect(await watching.ended()).toBe(0)
      expect(watching.out).toMatch(/\n$/)
    },
    60_000,
  )
})
