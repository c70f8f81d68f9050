import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../../support/waypost.ts'
import { Balancer } from './balancer.ts'

let servers: Server[]
let ports: number[]
let balancer: Balancer

beforeEach(async () => {
  ports = [await freePort(), await freePort(), await freePort()]
  servers = ports.map((port, index) =>
    createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (asked) => socket.end(`${asked.toString()} at ${index}`))
    }).listen(port, '127.0.0.1'),
  )
  await Promise.all(servers.map((server) => once(server, 'listening')))
  balancer = await Balancer.start(ports)
})

afterEach(async () => {
  await balancer.stop()
  for (const server of servers) server.close()
})

async function asked(): Promise<string> {
  const socket = connect(balancer.port, '127.0.0.1').setEncoding('utf8')
  let text = ''
  socket.on('data', (part: string) => (text += part))
  socket.write('a question')
  await once(socket, 'close')
  return text
}

test('each connection goes to the next server', async () => {
  const answers = [await asked(), await asked(), await asked(), await asked()]
  expect(answers).toEqual([0, 1, 2, 0].map((index) => `a question at ${index}`))
})

test('a server that does not run is left out', async () => {
  servers[1]!.close()
  await once(servers[1]!, 'close')
  const answers = [await asked(), await asked(), await asked(), await asked()]
  expect(answers).toEqual([0, 2, 2, 0].map((index) => `a question at ${index}`))
})
