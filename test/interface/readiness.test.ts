import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { needTool } from '../support/need-tool.ts'
import { startWaypost } from '../support/waypost.ts'
import { clientsOf, Client, type Json, until } from './client.ts'

/** The lines of a server's log. */
function linesOf(output: string): Json[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Json)
}

test('the log of a start and a stop has the settings that differ from their defaults', async () => {
  const server = await startWaypost({ settings: { 'max-held-polls': 7 } })
  expect(await server.stop()).toBe(0)
  const lines = linesOf(server.output())
  expect(lines[0]).toMatchObject({
    level: 30,
    msg: 'the server has started',
    node: process.version,
    settings: { port: server.port, 'max-held-polls': 7, 'data-dir': server.dataDir },
  })
  expect(lines.at(-1)).toMatchObject({ level: 30, msg: 'the server has stopped' })
})

const tools = needTool('prlimit')

test.skipIf(tools.skip)(
  'while the store cannot write, the server is not ready, logs that once, and recovers by itself',
  async () => {
    const server = await startWaypost()
    const { svc, nacos } = clientsOf(server.url)
    const root = new Client(server.url)
    // A limit on the size of files simulates a full disk.
    const limitFiles = (bytes: string) =>
      execFileSync('prlimit', [`--pid=${server.pid}`, `--fsize=${bytes}:unlimited`])
    const publish = (dataId: string) =>
      svc.post('/cs/configs', { dataId, group: 'G', content: 'x'.repeat(90_000) })
    expect((await publish('before')).text).toBe('true')

    limitFiles('65536')
    for (let round = 0; round < 5; round++) expect((await publish(`in-vain-${round}`)).status).toBe(500)
    const answer = await root.get('/readyz')
    expect(answer.status).toBe(503)
    expect(answer.json()).toMatchObject({ ready: false, reasons: [{ code: 'store-unavailable' }] })
    expect((await nacos.get('/console/health/readiness')).status).toBe(503)
    expect((await nacos.get('/console/health/liveness')).text).toBe('OK')
    expect((await root.get('/healthz')).text).toBe('ok')
    const metrics = (await root.get('/metrics')).text
    expect(metrics).toContain('waypost_ready 0\n')
    expect(metrics).toContain('waypost_store_available 0\n')
    expect(metrics).toContain('waypost_http_refusals_total{code="store-unavailable"} 5\n')
    expect((await svc.get('/cs/configs', { dataId: 'before', group: 'G' })).status).toBe(200)

    limitFiles('unlimited')
    await until(
      () => root.get('/readyz'),
      ({ status }) => status === 200,
    )
    expect((await publish('after')).text).toBe('true')
    const faults = linesOf(server.output()).filter(({ level }) => level >= 50)
    expect(faults).toMatchObject([
      { msg: expect.stringMatching(/^the store cannot write/), err: { type: 'Refusal' } },
    ])
    // The five publishes, and what the server wrote on its own account meanwhile.
    const [recovery, ...more] = linesOf(server.output()).filter(({ msg }) => msg === 'the store writes again')
    expect(more).toEqual([])
    expect(recovery!['failedCommits']).toBeGreaterThanOrEqual(5)
    for (const client of [svc, nacos, root]) client.close()
    expect(await server.stop()).toBe(0)
  },
)
