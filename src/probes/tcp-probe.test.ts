import { createServer, type AddressInfo, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { tcpProbe } from './probe.ts'

const checker = { type: 'TCP' } as const

async function listening(use: (port: number, server: Server) => Promise<void>): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => {}).resume())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  try {
    await use(port, server)
  } finally {
    await new Promise((done) => server.close(done))
  }
}

test('a port that accepts connections is up, and the connection is closed', () =>
  listening(async (port, server) => {
    const result = await tcpProbe({ host: '127.0.0.1', port, checker }, 2000)
    expect(result).toMatchObject({ outcome: 'up', reason: 'connected' })
    expect(result.elapsedMs).toBeGreaterThan(0)
    await expect
      .poll(() => new Promise((done) => server.getConnections((_error, count) => done(count))))
      .toBe(0)
  }))

test('each address of a host name is tried', () =>
  listening(async (port) => {
    expect(await tcpProbe({ host: 'localhost', port, checker }, 2000)).toMatchObject({ outcome: 'up' })
  }))

test('a refused connection is down at once', async () => {
  let closedPort = 0
  await listening(async (port) => void (closedPort = port))
  for (const host of ['127.0.0.1', 'localhost']) {
    const result = await tcpProbe({ host, port: closedPort, checker }, 2000)
    expect(result).toMatchObject({ outcome: 'down-now', reason: 'connection refused' })
  }
})

test.each(['169.254.169.254', '::ffff:169.254.169.254', '0.0.0.0', '::', '224.0.0.1', '255.255.255.255'])(
  '%s is never connected to',
  async (host) => {
    const result = await tcpProbe({ host, port: 80, checker }, 2000)
    expect(result.outcome).toBe('down-now')
    expect(result.reason).toContain('never probed')
  },
)

test('an invalid port or name is down, and the probe does not throw', async () => {
  expect(await tcpProbe({ host: '127.0.0.1', port: 70_000, checker }, 2000)).toMatchObject({
    outcome: 'down',
  })
  expect((await tcpProbe({ host: '127.0.0.1', port: 0, checker }, 2000)).outcome).not.toBe('up')
  expect(await tcpProbe({ host: 'no such host', port: 80, checker }, 2000)).toMatchObject({ outcome: 'down' })
  expect(await tcpProbe({ host: '', port: 80, checker }, 2000)).toMatchObject({ outcome: 'down' })
})
