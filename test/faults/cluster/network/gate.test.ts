import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CUT, Gate, OPEN } from './gate.ts'

let echo: Server
let gate: Gate
let client: Socket
let seen: string

beforeEach(async () => {
  echo = createServer((socket) => void socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1')
  await once(echo, 'listening')
  const target = echo.address() as { port: number }
  gate = await Gate.open({
    host: '127.0.0.1',
    port: 0,
    target: { host: '127.0.0.1', port: target.port },
    whoIs: () => 'a',
  })
  client = connect(gate.port, '127.0.0.1').setEncoding('utf8')
  client.on('error', () => {})
  seen = ''
  client.on('data', (text: string) => (seen += text))
  await once(client, 'connect')
})

afterEach(async () => {
  client.destroy()
  await gate.close()
  echo.close()
})

test('a gate passes on what is sent and what is answered', async () => {
  client.write('one')
  await expect.poll(() => seen).toBe('one')
})

test('what is held back arrives when the gate opens again', async () => {
  for (const passing of [CUT, { questions: false, answers: true }, { questions: true, answers: false }]) {
    client.write('one')
    await expect.poll(() => seen).toBe('one')
    gate.set('a', passing)
    client.write('two')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(seen).toBe('one')
    gate.set('a', OPEN)
    await expect.poll(() => seen).toBe('onetwo')
    seen = ''
  }
})

test('the connections of others are not held back', async () => {
  gate.set('b', CUT)
  client.write('one')
  await expect.poll(() => seen).toBe('one')
})

test('broken connections end at both sides', async () => {
  client.write('one')
  await expect.poll(() => seen).toBe('one')
  const closed = once(client, 'close')
  gate.breakAll('a')
  await closed
})
