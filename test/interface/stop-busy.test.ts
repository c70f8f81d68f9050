import { expect, test } from 'vitest'
import { keepBusyUntilRefused } from '../support/steady-client.ts'
import { startWaypost } from '../support/waypost.ts'
import { clientsOf, sleep } from './client.ts'

test('clients that keep their connections busy see whole answers until new connections are refused', async () => {
  const server = await startWaypost()
  const { svc } = clientsOf(server.url)
  await svc.post('/ns/instance', { serviceName: 'busy', ip: '127.0.0.1', port: 80 })
  const list = 'GET /nacos/v1/ns/instance/list?serviceName=busy HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const publish =
    'POST /svc/v1/cs/configs?dataId=busy&group=G&content=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'
  const clients = Array.from({ length: 60 }, (_, number) =>
    keepBusyUntilRefused(server.port, number % 3 === 0 ? publish : list, 1 + (number % 4)),
  )
  await sleep(500)
  expect(await server.stop()).toBe(0)
  expect(new Set((await Promise.all(clients)).flat())).toEqual(new Set(['ended', 'refused']))
}, 30_000)
