import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { changeInstances } from './services.ts'

afterEach(() => vi.unstubAllEnvs())

/** A server that shows the instances with these ports, and does not find the ones of `gone` when they are changed. */
async function serverOf(ports: readonly number[], gone: readonly number[]) {
  const idOf = (port: number) => `10.0.0.1#${port}#DEFAULT#DEFAULT_GROUP@@s`
  const pageItems = ports.map((port) => ({
    instanceId: idOf(port),
    ip: '10.0.0.1',
    port,
    clusterName: 'DEFAULT',
  }))
  const server = createServer((request, response) => {
    const updated = ports.filter((port) => !gone.includes(port)).map(idOf)
    const answer =
      request.method === 'PUT' ? { updated, notFound: gone.map(idOf) } : { pagesAvailable: 1, pageItems }
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url, close }
}

test('instances that leave while several are changed are named, with exit code 1', async () => {
  vi.stubEnv('WAYPOST_CLIENT_FILE', '/nonexistent')
  const named = { name: 's', addresses: ['10.0.0.1:80', '10.0.0.1:81'] }
  for (const gone of [[81], []]) {
    const { url, close } = await serverOf([80, 81], gone)
    const changed = changeInstances({ server: url }, named, { enabled: false })
    if (gone.length === 0) expect((await changed).text).toContain('10.0.0.1:80, 10.0.0.1:81')
    else
      await expect(changed).rejects.toThrow(
        'DEFAULT_GROUP@@s: 10.0.0.1:81 left just now; all others are changed.',
      )
    close()
  }
})
