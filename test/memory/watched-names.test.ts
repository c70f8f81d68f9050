/** Clients of patterns say which names they know. They make them up, and the names take memory of the server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'
import { freePort, startWaypost, type Waypost } from '../support/waypost.ts'

const NAMES = 9_000
const PATTERNS = 60
const KINDS = ['Config', 'Naming'] as const
/** Patterns with many names ended the heap when nobody counted the names. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=128' }

let server: Waypost
let metricsPort: number

beforeAll(async () => {
  metricsPort = await freePort()
  server = await startWaypost({
    env: HEAP,
    settings: { 'metrics-host': '127.0.0.1', 'metrics-port': metricsPort },
  })
})

afterAll(() => server.kill())

/** What the account of watching clients says. */
async function clientMemory(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return Number(/^waypost_client_memory_bytes (.+)$/m.exec(text)![1])
}

/** Watches patterns with names that nobody has, and gives how many were taken and how many refused. */
async function watchMadeUp(client: GrpcClient, kind: (typeof KINDS)[number]): Promise<Map<unknown, number>> {
  const answers = new Map<unknown, number>()
  for (let index = 0; index < PATTERNS; index++) {
    const receivedGroupKeys = Array.from({ length: NAMES }, (_, at) => `dev@@G@@made-up-${index}-${at}`)
    const groupKeyPattern = `dev>>G>>${index}-*`
    const body = { groupKeyPattern, receivedGroupKeys, watchType: 'WATCH', initializing: false }
    const { errorCode } = (await client.ask(`${kind}FuzzyWatchRequest`, body)).body
    answers.set(errorCode, (answers.get(errorCode) ?? 0) + 1)
  }
  return answers
}

describe('a server with a heap of 128 MiB', () => {
  test('refuses patterns whose names do not fit, and gets the memory of the others back', async () => {
    const silent = { reply: () => undefined }
    const clients = await Promise.all([0, 1, 2, 3].map(() => connectGrpc(server, silent)))
    for (const [index, client] of clients.entries()) {
      const answers = await watchMadeUp(client, KINDS[index % 2]!)
      expect([...answers.keys()].filter((code) => code !== 0)).toEqual([50310])
    }
    expect(await clientMemory()).toBeGreaterThan(2 ** 20)
    for (const client of clients) await client.close()
    while ((await clientMemory()) > 0) await sleep(50)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })
})
