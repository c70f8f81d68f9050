/** A server of several that is stopped in order, while a client still sends it a request (docs/cluster.md, "Upgrade"). */
import { once } from 'node:events'
import http from 'node:http'
import { expect, test } from 'vitest'
import { clientsOf, unique, until } from '../interface/client.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { clusterForTests } from '../support/cluster.ts'

const cluster = clusterForTests({ servers: 2, settings: { 'shutdown-grace': '10m' } })

async function membersOf(url: string): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return /^waypost_members (\d+)$/m.exec(text)![1]!
}

describeOnEtcd('a server that stops', 60_000, () => {
  test('is no member any longer while it finishes a slow request, and still finishes it', async () => {
    const [one, two] = cluster.servers
    const dataId = unique('item')
    const body = `dataId=${dataId}&group=G&content=slow`
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.length,
    }
    const slow = http.request(`${one!.url}/svc/v1/cs/configs`, { method: 'POST', headers })
    slow.write(body.slice(0, 10))
    await until(
      async () => (await fetch(`${one!.url}/metrics`)).text(),
      (text) => /^waypost_http_requests_in_flight 2$/m.test(text),
    )
    process.kill(one!.pid, 'SIGTERM')
    expect(
      await until(
        () => membersOf(two!.url),
        (count) => count === '1',
      ),
    ).toBe('1')
    expect(one!.output()).not.toContain('has stopped')
    slow.end(body.slice(10))
    const [answer] = (await once(slow, 'response')) as [http.IncomingMessage]
    expect(answer.statusCode).toBe(200)
    answer.resume()
    const read = () => clientsOf(two!.url).svc.get('/cs/configs', { dataId, group: 'G' })
    expect(await until(read, ({ status }) => status === 200)).toMatchObject({ text: 'slow' })
    await until(
      () => Promise.resolve(one!.output()),
      (text) => text.includes('the server has stopped'),
    )
  })
})
