import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { serverForThisFile, sleep } from './client.ts'

const waypost = serverForThisFile()

test('a connection is usable after being idle for longer than a beat interval, and for 75 s as its header says', async () => {
  const socket = connect(waypost.server.port, '127.0.0.1')
  const ask = async (): Promise<string> => {
    socket.write('GET /svc/v1/ns/operator/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString()
  }
  const answer = await ask()
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(Number(/keep-alive: timeout=(\d+)/i.exec(answer)?.[1])).toBeGreaterThanOrEqual(75)
  await sleep(5_500)
  expect(await ask()).toMatch(/^HTTP\/1\.1 200 /)
  socket.destroy()
})
