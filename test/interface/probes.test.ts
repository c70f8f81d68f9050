import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostsOf, serverForThisFile, sleep, unique, until } from './client.ts'
import { freePort } from '../support/waypost.ts'
import { expectProblem } from './problem.ts'

/** The first probe comes at most 7 s after the registration; with these switches the verdict follows within 2 s. */
const verdictMs = 30_000
const waypost = serverForThisFile()
const opened: Server[] = []

beforeAll(async () => {
  const quick = { max: 1_000, min: 1_000, factor: 0.5 }
  const entries = {
    checkTimes: '1',
    tcpHealthParams: JSON.stringify(quick),
    httpHealthParams: JSON.stringify({ ...quick, min: 500 }),
  }
  for (const [entry, value] of Object.entries(entries)) {
    const answer = await waypost.svc.put('/ns/operator/switches', { entry, value })
    expect(answer.text).toBe('ok')
  }
})

afterAll(() => opened.forEach((server) => server.close()))

/** Listens on a port of the loopback address and closes after the tests. */
async function listening(server: Server, port = 0): Promise<number> {
  opened.push(server)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function tcp(): Server {
  return createTcpServer((socket) => socket.destroy())
}

function http(answer: (request: IncomingMessage, response: ServerResponse) => void): Server {
  return createHttpServer(answer)
}

async function persistent(port: number, clusterName = 'DEFAULT') {
  const key = { serviceName: unique('probed'), ip: '127.0.0.1', port, clusterName }
  expect((await waypost.svc.post('/ns/instance', { ...key, ephemeral: false })).text).toBe('ok')
  return key
}

async function checkedBy(key: { serviceName: string; clusterName: string }, checker: object, checkPort = 0) {
  const cluster = {
    serviceName: key.serviceName,
    clusterName: key.clusterName,
    checkPort: checkPort || 80,
    useInstancePort4Check: checkPort === 0,
    healthChecker: JSON.stringify(checker),
  }
  const answer = await waypost.svc.put('/ns/cluster', cluster)
  expect(answer, answer.text).toMatchObject({ status: 200, text: 'ok' })
}

function healthBecomes(serviceName: string, healthy: boolean) {
  const ask = () => hostsOf(waypost.svc, { serviceName })
  return until(ask, ([host]) => host?.healthy === healthy, verdictMs)
}

test.concurrent('TCP: an instance is unhealthy while its port is closed and healthy while it is open', async () => {
  const server = tcp()
  const port = await listening(server, await freePort())
  const { serviceName } = await persistent(port)
  await sleep(300)
  await new Promise((resolve) => server.close(resolve))
  await healthBecomes(serviceName, false)
  await listening(tcp(), port)
  await healthBecomes(serviceName, true)
})

test.concurrent('HTTP: path and headers are sent, and only the expected status is healthy', async () => {
  const seen: IncomingMessage[] = []
  let status = 204
  const port = await listening(
    http((request, response) => {
      seen.push(request)
      response.writeHead(status).end()
    }),
  )
  const key = await persistent(port)
  const checker = { type: 'HTTP', path: '/alive?x=1', headers: 'x-a:1|x-b:two', expectedResponseCode: 204 }
  await checkedBy(key, checker)
  await until(
    async () => seen.length,
    (count) => count >= 1,
    verdictMs,
  )
  expect(seen[0]).toMatchObject({ method: 'GET', url: '/alive?x=1', headers: { 'x-a': '1', 'x-b': 'two' } })
  expect(await hostsOf(waypost.svc, key)).toMatchObject([{ healthy: true }])
  status = 200
  await healthBecomes(key.serviceName, false)
  status = 204
  await healthBecomes(key.serviceName, true)
})

test.concurrent('the port to check may be the cluster’s instead of the instance’s', async () => {
  const open = await listening(tcp())
  const closed = tcp()
  const port = await listening(closed)
  await new Promise((resolve) => closed.close(resolve))
  const key = await persistent(port)
  await healthBecomes(key.serviceName, false)
  await checkedBy(key, { type: 'TCP' }, open)
  await healthBecomes(key.serviceName, true)
})

test('the checker of a cluster is shown in the service and is validated when it is set', async () => {
  const key = await persistent(9, 'c1')
  await checkedBy(key, { type: 'HTTP', path: '/x', headers: '', expectedResponseCode: 200 })
  const service = (await waypost.svc.get('/ns/service', { serviceName: key.serviceName })).json()
  expect(service.clusters).toMatchObject([{ name: 'c1', healthChecker: { type: 'HTTP' } }])
  const cluster = { ...key, checkPort: 80, useInstancePort4Check: true }
  for (const healthChecker of ['{', '[]', '{"type":7}', undefined]) {
    expectProblem(await waypost.svc.put('/ns/cluster', { ...cluster, healthChecker }), 400, 'healthChecker')
  }
  const wrongPort = { ...cluster, checkPort: 70_000, healthChecker: '{"type":"TCP"}' }
  expectProblem(await waypost.svc.put('/ns/cluster', wrongPort), 400, 'checkPort')
})
