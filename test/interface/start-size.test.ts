import { expect, test } from 'vitest'
import { startWaypost } from '../support/waypost.ts'
import { clientsOf, hostsOf } from './client.ts'

const size = 10_000
const abreast = 100

/** Does `work` for 0 to `size` - 1, a hundred at a time. */
async function forAll(work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < size) await work(next++)
  }
  await Promise.all(Array.from({ length: abreast }, worker))
}

// How long this takes is measured by `npm run bench -- --only start-10k`: a shared machine proves nothing here.
test('a start with 10,000 configurations and 10,000 instances answers with all of them', async () => {
  let server = await startWaypost()
  const writer = clientsOf(server.url).svc
  const content = 'x'.repeat(500)
  await forAll((n) => writer.post('/cs/configs', { dataId: `item.${n}`, group: 'G', content }))
  const address = (n: number) => ({ serviceName: `svc-${n % 100}`, ip: '127.0.0.1', port: 1 + n })
  await forAll((n) => writer.post('/ns/instance', { ...address(n), ephemeral: n % 2 === 0 }))
  writer.close()
  await server.stop()
  server = await server.restart()
  const { svc } = clientsOf(server.url)
  expect((await svc.get('/cs/configs', { dataId: 'item.9999', group: 'G' })).text).toBe(content)
  expect(await hostsOf(svc, { serviceName: 'svc-7' })).toHaveLength(100)
  expect((await svc.get('/ns/operator/metrics')).json()).toMatchObject({ instanceCount: size })
  svc.close()
  await server.stop()
}, 180_000)
