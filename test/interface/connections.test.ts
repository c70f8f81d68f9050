import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { serverForThisFile, sleep, unique, until } from './client.ts'

const waypost = serverForThisFile()

function opened(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(waypost.server.port, '127.0.0.1', () => resolve(socket))
    socket.on('error', reject)
  })
}

/** Sends bytes on an open connection and gives what comes back within a short time. */
function exchange(socket: Socket, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const take = (chunk: Buffer) => (answer += chunk.toString('utf8'))
    socket.on('data', take)
    socket.write(text)
    setTimeout(() => resolve((socket.off('data', take), answer)), 400)
  })
}

async function heldPolls(): Promise<number> {
  const page = await (await fetch(`${waypost.server.url}/metrics`)).text()
  return Number(/^waypost_polls_held (\d+)$/m.exec(page)?.[1])
}

const ask = 'GET /svc/v1/ns/operator/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'

describe('connections', () => {
  test.concurrent('are usable after being idle for longer than a beat interval', async () => {
    const socket = await opened()
    expect(await exchange(socket, ask)).toMatch(/^HTTP\/1\.1 200 /)
    await sleep(5_500)
    expect(socket.destroyed).toBe(false)
    expect(await exchange(socket, ask)).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
  }, 20_000)

  test('stay open for at least 75 s, as their header says', async () => {
    const socket = await opened()
    const answer = await exchange(socket, ask)
    const promised = /keep-alive: timeout=(\d+)/i.exec(answer)?.[1]
    expect(Number(promised ?? 75)).toBeGreaterThanOrEqual(75)
    socket.destroy()
  })

  test('answer pipelined requests in order', async () => {
    const dataId = unique('piped')
    await waypost.svc.post('/cs/configs', { dataId, group: 'G', content: 'piped' })
    const read = `GET /svc/v1/cs/configs?dataId=${dataId}&group=G HTTP/1.1\r\nHost: localhost\r\n\r\n`
    const socket = await opened()
    const answer = await exchange(socket, read + ask + read)
    expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(3)
    socket.destroy()
  })

  test('release the poll of a client that disconnects', async () => {
    const body = encodeURIComponent('quiet\u0002G\u0002\u0001')
    const form = `Listening-Configs=${body}`
    const head = `POST /svc/v1/cs/configs/listener HTTP/1.1\r\nHost: localhost\r\nLong-Pulling-Timeout: 30000\r\n`
    const rest = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`
    const sockets = await Promise.all(Array.from({ length: 20 }, opened))
    const before = await heldPolls()
    for (const socket of sockets) socket.write(head + rest)
    await until(heldPolls, (held) => held === before + 20, 5_000)
    for (const socket of sockets.slice(0, 15)) socket.resetAndDestroy()
    await until(heldPolls, (held) => held === before + 5, 5_000)
    for (const socket of sockets.slice(15)) socket.end()
    await until(heldPolls, (held) => held === before, 5_000)
    await waypost.svc.post('/cs/configs', { dataId: 'quiet', group: 'G', content: 'loud' })
    expect((await waypost.svc.get('/ns/operator/metrics')).status).toBe(200)
  })

  test('answer 400 to input that is not HTTP', async () => {
    const socket = await opened()
    expect(await exchange(socket, 'HELO there\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect((await waypost.svc.get('/ns/operator/metrics')).status).toBe(200)
  })
})
