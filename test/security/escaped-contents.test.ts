/** A content becomes six times as long in JSON: whoever reads it often, by any operation, does not end a server with a small heap. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const SIZE = 10_485_000
const AT_ONCE = 4
const item = 'dataId=large&group=G'
let server: Waypost
let grpc: GrpcClient
let id: string

beforeAll(async () => {
  server = await startWaypost({ env: { NODE_OPTIONS: '--max-old-space-size=128' } })
  // The newest record has the text before.
  for (const first of ['\u0001', '\u0002']) {
    const body = `${first.repeat(SIZE - 3)}中`
    const headers = { 'content-type': 'text/plain' }
    const sent = await fetch(`${server.url}/svc/v1/cs/configs?${item}`, { method: 'POST', headers, body })
    expect(sent.status).toBe(200)
  }
  const page = await fetch(`${server.url}/svc/v1/cs/history?${item}&search=accurate&pageNo=1&pageSize=1`)
  const { pageItems } = (await page.json()) as { pageItems: { id: string }[] }
  id = pageItems[0]!.id
  grpc = await connectGrpc(server)
}, 60_000)

afterAll(async () => {
  await grpc?.close()
  await server?.stop()
})

/** The bytes of an answer. */
async function read(path: string): Promise<number> {
  const answer = await fetch(`${server.url}${path}`)
  expect(answer.status).toBe(200)
  let bytes = 0
  for await (const chunk of answer.body!) bytes += chunk.length
  return bytes
}

test.each([
  [`/svc/v1/cs/configs?${item}&show=all`],
  [`/svc/v1/cs/configs?${item}&search=accurate&pageNo=1&pageSize=1`],
  [`/svc/v1/cs/history?${item}&nid=ID`],
  [`/svc/v1/console/config/version?${item}&historyId=ID`],
  [`/nacos/v1/cs/configs?${item}&show=all`],
  [`/nacos/v1/cs/configs?${item}&search=accurate&pageNo=1&pageSize=1`],
  [`/nacos/v1/cs/history?${item}&nid=ID`],
  [`/nacos/v2/cs/config?${item}`],
  [`/nacos/v2/cs/history?${item}&nid=ID`],
  ['/nacos/v3/client/cs/config?dataId=large&groupName=G'],
])('%s', { timeout: 60_000 }, async (path) => {
  const all = await Promise.all(Array.from({ length: AT_ONCE }, () => read(path.replace('ID', id))))
  for (const bytes of all) expect(bytes).toBeGreaterThan(6 * (SIZE - 3))
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
})

test('a query over gRPC', { timeout: 60_000 }, async () => {
  const { body } = await grpc.ask('ConfigQueryRequest', { dataId: 'large', group: 'G', tenant: '' })
  expect((body['content'] as string).length).toBe(SIZE - 2)
})
