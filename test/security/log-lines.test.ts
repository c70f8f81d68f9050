import { expect, test } from 'vitest'
import { clientsOf } from '../interface/client.ts'
import { startWaypost } from '../support/waypost.ts'

const EVIL = '\r\n{"level":60,"msg":"forged"}\n\u001b[31mred\u001b[0m"}\\\u0000\u202e\u2028EVIL'

test('whatever clients send, a line of the log is one line of JSON', async () => {
  const server = await startWaypost({
    settings: { 'log-level': 'trace', 'audit-log': 'stdout', 'trusted-proxies': '127.0.0.1' },
  })
  const { svc, nacos } = clientsOf(server.url)
  const printable = { 'x-forwarded-for': 'EVIL"}\t{', 'user-agent': 'EVIL"}\t{\\n', referer: 'EVIL' }
  for (const client of [svc, nacos]) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      for (const path of [
        '/cs/configs',
        '/ns/instance',
        '/ns/service',
        '/console/namespaces',
        '/ns/operator/switches',
        '/EVIL"}',
      ]) {
        const names = [
          'dataId',
          'group',
          'tenant',
          'content',
          'type',
          'ip',
          'port',
          'serviceName',
          'metadata',
          'entry',
          'value',
        ]
        const form = Object.fromEntries(names.map((name) => [name, EVIL]))
        await client.call(method, path, { form, headers: printable })
      }
    }
    // These requests succeed, and the audit writes lines about them.
    const space = {
      customNamespaceId: 'evil',
      namespaceName: 'EVIL \u001b[31m'.replace('\u001b', ''),
      namespaceDesc: EVIL,
    }
    await client.post('/console/namespaces', space, printable)
    await client.delete('/console/namespaces', { namespaceId: 'evil' })
    await client.put(
      '/ns/operator/switches',
      { entry: 'masters', value: JSON.stringify([EVIL]), debug: true },
      printable,
    )
    const item = { dataId: 'logged', group: 'G' }
    await client.post(
      '/cs/configs',
      { ...item, content: EVIL, src_user: EVIL, appName: EVIL, desc: EVIL },
      printable,
    )
  }
  svc.close()
  nacos.close()
  await server.stop()
  const lines = server.output().split('\n')
  // oxlint-disable-next-line no-control-regex
  for (const line of lines) expect(line).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f]/)
  const logged = lines.filter((line) => line.startsWith('{'))
  const kinds = logged.map((line) => ('audit' in JSON.parse(line) ? 'audit' : 'log'))
  expect(new Set(kinds)).toEqual(new Set(['audit', 'log']))
  expect(lines.filter((line) => line.includes('forged') && !line.startsWith('{'))).toEqual([])
  expect(
    logged.map((line) => JSON.parse(line) as { level?: number }).filter(({ level = 0 }) => level >= 50),
  ).toEqual([])
})
