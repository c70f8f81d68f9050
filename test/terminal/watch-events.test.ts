/** No event ends a watch, and each kind of change has a line. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { unique, until } from '../interface/client.ts'
import { terminalForThisFile } from './terminal.ts'

const here = terminalForThisFile()

const linesOf = (out: string): Record<string, unknown>[] =>
  out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

async function newNamespace(): Promise<string> {
  const id = unique('ns')
  await here.svc.post('/console/namespaces', { customNamespaceId: id, namespaceName: id })
  return id
}

/** Changes an item in each way; resolves when the watch has printed each change. */
async function changesEach(tenant: string, printed: (count: number) => Promise<unknown>): Promise<void> {
  const item = { tenant, group: 'G', dataId: 'ov.yaml' }
  const gray = { ...item, grayType: 'beta', comment: 'canary' }
  const done = async (reply: Promise<{ status: number; text: string }>, count: number): Promise<void> => {
    const { status, text } = await reply
    expect([status, text]).toEqual([200, expect.anything()])
    await printed(count)
  }
  await done(here.svc.post('/cs/configs', { ...item, content: 'a: 1', comment: 'first' }), 1)
  await done(here.svc.post('/cs/configs/gray', { ...gray, content: 'a: 2', grayMatchRuleExp: '10.9.9.9' }), 2)
  await done(
    here.svc.call('PUT', '/cs/configs/gray', {
      query: { ...item, grayName: 'beta', grayMatchRuleExp: '10.9.9.9,10.9.9.8' },
    }),
    3,
  )
  await done(here.svc.post('/cs/configs/gray/promote', { ...item, grayName: 'beta', comment: 'out' }), 5)
  await done(here.svc.post('/cs/configs/gray', { ...gray, content: 'a: 3', grayMatchRuleExp: '10.9.9.9' }), 6)
  await done(here.svc.call('DELETE', '/cs/configs/gray', { query: { ...item, grayName: 'beta' } }), 7)
  await done(here.svc.call('DELETE', '/cs/configs', { query: { ...item, comment: 'gone' } }), 8)
}

const CHANGES = [
  { change: 'published', user: '127.0.0.1', comment: 'first', size: 4 },
  { change: 'gray', grayName: 'beta', grayMatchRuleExp: '10.9.9.9', user: '127.0.0.1', comment: 'canary' },
  { change: 'gray', grayMatchRuleExp: '10.9.9.9,10.9.9.8' },
  { change: 'published', comment: 'out', size: 4 },
  { change: 'promoted', grayName: 'beta', comment: 'out' },
  { change: 'gray', comment: 'canary' },
  { change: 'gray-stopped', grayName: 'beta', user: '127.0.0.1' },
  { change: 'deleted', md5: null, size: null, comment: 'gone' },
]

describe('config watch', () => {
  test.each([
    ['a namespace', []],
    ['an item', ['G/ov.yaml']],
  ])(
    'of %s has a line for each change of a gray version too',
    async (_, words) => {
      const tenant = await newNamespace()
      const watching = here.terminal.start(['config', 'watch', ...words, '-n', tenant, '-o', 'json'])
      await watching.printed(`watching ${tenant}`)
      await changesEach(tenant, (count) =>
        until(
          () => Promise.resolve(linesOf(watching.out)),
          (lines) => lines.length >= count,
        ),
      )
      const lines = linesOf(watching.out)
      expect(lines).toMatchObject(CHANGES)
      for (const line of lines) expect(line).toMatchObject({ group: 'G', dataId: 'ov.yaml' })
      expect(await watching.signalled('SIGINT')).toBe(0)
    },
    60_000,
  )

  test('says who has changed what, and why', async () => {
    const tenant = await newNamespace()
    const watching = here.terminal.start(['config', 'watch', '-n', tenant])
    await watching.printed(`watching ${tenant}`)
    const gray = {
      tenant,
      group: 'G',
      dataId: 'a',
      content: 'x',
      grayType: 'beta',
      grayMatchRuleExp: '10.9.9.9',
    }
    await here.svc.post('/cs/configs/gray', { ...gray, comment: 'canary' })
    await watching.printed('gray  G/a  beta  10.9.9.9  ')
    await watching.printed('by 127.0.0.1  "canary"')
    expect(await watching.signalled('SIGINT')).toBe(0)
  }, 60_000)
})

test('service watch reports a service that is deleted', async () => {
  const tenant = await newNamespace()
  const name = { namespaceId: tenant, serviceName: 'pay', groupName: 'G' }
  const watching = here.terminal.start(['service', 'watch', '-n', tenant])
  await watching.printed(`watching ${tenant}`)
  const instance = { ...name, ip: '10.0.0.7', port: 80, ephemeral: false }
  await here.svc.post('/ns/instance', instance)
  await watching.printed('registered')
  await here.svc.call('DELETE', '/ns/instance', { query: instance })
  await watching.printed('removed')
  expect((await here.svc.call('DELETE', '/ns/service', { query: name })).status).toBe(200)
  await watching.printed('service-deleted  G@@pay')
  expect(await watching.signalled('SIGINT')).toBe(0)
}, 60_000)

/** A server whose events are these, after the first message. */
async function serverOf(events: readonly object[]): Promise<{ url: string; close(): void }> {
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    if (!request.url!.startsWith('/svc/v1/console/events')) {
      const isItem = /show=all|timeline/.test(request.url!)
      response.writeHead(isItem ? 400 : 200, { 'content-type': 'application/json' })
      const page = {
        totalCount: 0,
        pageNumber: 1,
        pagesAvailable: 0,
        pageItems: [],
        grayOnly: [],
        next: null,
      }
      response.end(JSON.stringify(isItem ? { detail: 'dataId is strange' } : page))
      return
    }
    open.add(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const changed = events.map(
      (event, index) => `event: changed\nid: ${index}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    response.write(`event: begun\nid: x\ndata: {}\n\n${changed.join('')}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const response of open) response.end()
      server.close()
    },
  }
}

describe.each(['config', 'service'])('%s watch', (what) => {
  test('prints an event of an unknown kind, and outlives one that it cannot read', async () => {
    const server = await serverOf([
      {
        kind: what,
        revision: 1,
        namespaceId: 'public',
        group: 'G',
        dataId: 'a b',
        groupName: 'G',
        serviceName: 's',
      },
      { kind: 'weather', revision: 2, namespaceId: 'public', name: 'rain' },
      { kind: 'weather', revision: 3, namespaceId: 'elsewhere', name: 'snow' },
      { kind: 'audit', revision: 4 },
    ])
    const watching = here.terminal.start([what, 'watch', '--server', server.url])
    await watching.printed('unknown  weather  public  rain')
    await watching.printed('dataId is strange')
    await watching.printed('Watching continues.')
    expect(watching.out).not.toMatch(/snow|audit/)
    expect(await watching.signalled('SIGINT')).toBe(0)
    server.close()
  }, 60_000)
})
