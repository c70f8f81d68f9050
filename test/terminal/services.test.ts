/** Services, and what operators look at, from a here.terminal. */
import { describe, expect, test } from 'vitest'
import { NamingClient } from '../grpc/naming-fixture.ts'
import { unique } from '../interface/client.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { terminalForThisFile } from './terminal.ts'

const here = terminalForThisFile()

const register = (serviceName: string, port: number, more: Record<string, string> = {}) =>
  here.svc.post('/ns/instance', {
    serviceName,
    ip: '10.0.0.7',
    port,
    ephemeral: 'false',
    healthy: 'true',
    ...more,
  })

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await here.terminal.ok(...args, '-o', 'json')) as T
}

describe('services', () => {
  test('are listed and shown, with their instances', async () => {
    const name = unique('shop')
    await register(name, 80, { metadata: '{"zone":"a"}' })
    await register(name, 81)
    expect(await here.terminal.ok('service', 'list', name, '-o', 'name')).toBe(`DEFAULT_GROUP@@${name}\n`)
    expect(await json('service', 'list', name)).toMatchObject([
      { name, groupName: 'DEFAULT_GROUP', ipCount: 2 },
    ])
    expect(await here.terminal.ok('service', 'show', `DEFAULT_GROUP@@${name}`)).toMatch(
      new RegExp(`^service +${name}\ngroup +DEFAULT_GROUP\nnamespace +public\n`),
    )
    expect(await here.terminal.ok('service', 'instances', name, '-o', 'name')).toBe(
      '10.0.0.7:80\n10.0.0.7:81\n',
    )
    expect(await json('service', 'instances', name)).toMatchObject([
      { port: 80, metadata: { zone: 'a' } },
      { port: 81 },
    ])
    expect(await here.terminal.run(['service', 'show', unique('absent')])).toMatchObject({ code: 1, out: '' })
  })

  test('say why a client gets an instance or not, and instances are switched off and on', async () => {
    const name = unique('shop')
    for (const port of [80, 81]) await register(name, port)
    expect(await here.terminal.ok('service', 'disable', name, '10.0.0.7:80')).toBe(
      `DEFAULT_GROUP@@${name}: disabled 10.0.0.7:80\n`,
    )
    await here.terminal.ok('service', 'weight', name, '0.5', '10.0.0.7:80', '10.0.0.7:81')
    expect(await json('service', 'explain', name)).toMatchObject([
      { port: 80, listed: false, reasons: ['disabled'] },
      { port: 81, listed: true, weight: 0.5 },
    ])
    await here.terminal.ok('service', 'enable', name, '10.0.0.7:80')
    expect(await json('service', 'instances', name)).toMatchObject([
      { enabled: true, weight: 0.5 },
      { enabled: true, weight: 0.5 },
    ])
    // Nothing is changed, and nothing made, where one is not there.
    const partly = await here.terminal.run(['service', 'disable', name, '10.0.0.7:80', '10.0.0.8:80'])
    expect([partly.code, partly.err]).toEqual([
      1,
      `waypost: DEFAULT_GROUP@@${name} has no instance 10.0.0.8:80.\n`,
    ])
    expect(await json('service', 'instances', name)).toMatchObject([{ enabled: true }, { enabled: true }])
    expect((await here.terminal.run(['service', 'disable', name, '10.0.0.7'])).err).toContain(
      'is no address: IP:PORT',
    )
  })

  test('those of connections and beats are switched too, and their clients do not switch them back', async () => {
    const name = unique('live')
    const connected = new NamingClient(await connectGrpc(here.server))
    await connected.register(name, { ip: '10.0.0.1', port: 8080 })
    const beating = { serviceName: name, ip: '10.0.0.2', port: 80, ephemeral: 'true' }
    const metadata = '{"preserved.heart.beat.timeout":"600000","preserved.ip.delete.timeout":"600000"}'
    await here.svc.post('/ns/instance', { ...beating, metadata })
    const [one, two] = ['10.0.0.1:8080', '10.0.0.2:80']
    const given = async (): Promise<readonly string[]> => {
      const { hosts } = (await connected.query(name)) as { hosts: readonly { ip: string; weight: number }[] }
      return hosts.map(({ ip, weight }) => `${ip} ${weight}`).toSorted()
    }
    expect(await given()).toEqual(['10.0.0.1 1', '10.0.0.2 1'])
    await here.terminal.ok('service', 'weight', name, '0.5', one, two)
    expect(await given()).toEqual(['10.0.0.1 0.5', '10.0.0.2 0.5'])
    await here.terminal.ok('service', 'disable', name, one, two)
    expect(await given()).toEqual([])
    const beat = JSON.stringify({ ...beating, weight: 1 })
    expect((await here.svc.put('/ns/instance/beat', { serviceName: name, beat })).status).toBe(200)
    expect(await json('service', 'explain', name)).toMatchObject([
      { ip: '10.0.0.1', listed: false, reasons: ['disabled'] },
      { ip: '10.0.0.2', listed: false, reasons: ['disabled'] },
    ])
    await here.terminal.ok('service', 'enable', name, one, two)
    expect(await given()).toEqual(['10.0.0.1 0.5', '10.0.0.2 0.5'])
    await connected.grpc.close()
    await expect
      .poll(() => here.terminal.ok('service', 'instances', name, '-o', 'name'), {
        timeout: 40_000,
        interval: 250,
      })
      .toBe(`${two}\n`)
    expect((await here.terminal.run(['service', 'disable', name, one])).code).toBe(1)
  }, 120_000)

  test('with an address in several clusters need the cluster, and IPv6 brackets', async () => {
    const name = unique('shop')
    for (const clusterName of ['A', 'B']) await register(name, 80, { clusterName, ip: 'fd00::7' })
    const several = await here.terminal.run(['service', 'disable', name, '[fd00::7]:80'])
    expect([several.code, several.err]).toEqual([1, expect.stringContaining('is in several clusters: A, B')])
    await here.terminal.ok('service', 'disable', name, '[fd00::7]:80', '--cluster', 'B')
    expect(await json('service', 'instances', name)).toMatchObject([
      { clusterName: 'A', enabled: true },
      { clusterName: 'B', enabled: false },
    ])
  })

  test('are watched: what happens to instances is printed as it comes', async () => {
    const [old, fresh] = [unique('old'), unique('fresh')]
    await register(old, 80)
    const watching = here.terminal.start(['service', 'watch', '-o', 'json'])
    await watching.printed('watching public')
    await here.terminal.ok('service', 'disable', old, '10.0.0.7:80')
    await watching.printed('disabled')
    await register(fresh, 81)
    await watching.printed(fresh)
    await watching.stop()
    const lines = watching.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { serviceName: string })
    expect(lines.filter(({ serviceName }) => serviceName === old)).toMatchObject([
      { serviceName: old, kind: 'disabled', ip: '10.0.0.7', port: 80, cause: 'operator' },
    ])
    expect(lines.find(({ serviceName }) => serviceName === fresh)).toMatchObject({
      kind: 'registered',
      port: 81,
    })
  }, 60_000)
})

describe('operators', () => {
  test('make, change and delete namespaces', async () => {
    const id = unique('ns')
    await here.terminal.ok('namespace', 'create', id, '--description', 'for tests')
    await here.terminal.ok('namespace', 'update', id, '--name', 'Tests')
    const found = await json<{ namespaceId: string }[]>('namespace', 'list')
    expect(found.find(({ namespaceId }) => namespaceId === id)).toMatchObject({
      name: 'Tests',
      desc: 'for tests',
    })
    const twin = unique('twin')
    const warning = `Warning: the name Tests is also the name of ${id}.`
    expect(await here.terminal.ok('namespace', 'create', twin, '--name', 'Tests')).toContain(warning)
    expect(await json('namespace', 'update', twin, '--name', 'Tests')).toMatchObject({ sameName: [id] })
    await here.svc.delete('/console/namespaces', { namespaceId: twin })
    await here.terminal.ok('namespace', 'delete', id)
    expect(await here.terminal.ok('namespace', 'list', '-o', 'name')).not.toContain(id)
  }, 60_000)

  test('see and set switches', async () => {
    expect(await here.terminal.ok('switch', 'get', 'checkTimes')).toBe('3\n')
    await here.terminal.ok('switch', 'set', 'checkTimes', '4', '--this-server')
    expect(await here.terminal.ok('switch', 'list')).toMatch(/^checkTimes +4$/m)
    expect(await json('switch', 'list')).toMatchObject({ checkTimes: 4 })
    expect(await here.terminal.run(['switch', 'set', 'nope', '1'])).toMatchObject({ code: 2 })
    expect(await here.terminal.run(['switch', 'get', 'nope'])).toMatchObject({ code: 1 })
  })

  test('see servers, clients, the status and the audit', async () => {
    expect(await here.terminal.ok('server', 'list', '-o', 'name')).toBe(`127.0.0.1:${here.server.port}\n`)
    expect(await json('client', 'list')).toEqual([])
    expect(await here.terminal.ok('status')).toMatch(new RegExp(`^${here.server.url}  ready  Waypost `))
    expect(await here.terminal.run(['status', '--server', 'http://127.0.0.1:1'])).toMatchObject({ code: 2 })
    const id = unique('audited')
    await here.terminal.ok('namespace', 'create', id)
    // The audit is written a moment later.
    await expect
      .poll(() => json<object[]>('audit', '--item', id, '--since', '5m'), { timeout: 15_000, interval: 250 })
      .toMatchObject([{ operation: 'create namespace', result: 'done' }])
    expect(await json('audit', '--item', id, '--until', '2026-01-01')).toEqual([])
    expect(await json<object[]>('audit', '--limit', '2')).toHaveLength(2)
    expect((await here.terminal.run(['audit', '--since', 'yesterday'])).err).toContain(
      '--since must be a time',
    )
  })
})
