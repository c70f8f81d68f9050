/** The forms of `--output` of each command that lists. */
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { makeProgram } from '../../src/main/program.ts'
import { NamingClient } from '../grpc/naming-fixture.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { startManaged } from '../support/administrator.ts'
import { sampled } from '../support/sampled.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { Terminal } from './terminal.ts'

/** The lists here, by command: its words, the first output of `name`, and a heading of its table. */
const LISTS: Readonly<Record<string, readonly [words: string, name: RegExp, heading: string]>> = {
  'config list': ['', /^G\/a$/, 'DATA ID'],
  'config history': ['G/a', /^\d{16}$/, 'CHANGE'],
  'config listeners': ['G/a', /^127\.0\.0\.1:\d+$/, 'HAS'],
  'config gray list': ['', /^G\/a\b/, 'PRIORITY'],
  'config gray explain': ['G/a --ip 10.0.0.7', /^(tag_t|formal)$/, 'GIVEN OUT'],
  'service list': ['', /^DEFAULT_GROUP@@shop$/, 'SERVICE'],
  'service instances': ['shop', /^10\.0\.0\.[17]:\d+$/, 'ADDRESS'],
  'service timeline': ['shop', /^\S+ 10\.0\.0\.[17]:\d+ \w+$/, 'HAPPENED'],
  'service explain': ['shop', /^10\.0\.0\.[17]:\d+$/, 'GIVEN OUT'],
  'namespace list': ['', /^$|^[a-z-]+$/, 'CONFIGS'],
  'switch list': ['', /^[a-zA-Z]+$/, 'VALUE'],
  'server list': ['', /^127\.0\.0\.1:\d+$/, 'SITE'],
  'client list': ['', /^\S+$/, 'SUBSCRIPTIONS'],
  audit: ['', /^\S+$/, 'OPERATION'],
  'user list': ['', /^nacos$|^ann$/, 'ROLES'],
  'role list': ['', /^ROLE_ADMIN$|^anns$/, 'USER'],
  'permission list': ['', /^dev:\*:config\/\*$/, 'RESOURCE'],
  'context list': ['', /^here$/, 'SERVER'],
}

const unused = () => Promise.reject(new Error('no command runs here'))
const parts = { startServer: unused, directoryTools: unused, storeCopies: unused, storedAccounts: unused }

function namesOf(command: Command, words: readonly string[] = []): string[] {
  const hasOutput = command.options.some(({ long }) => long === '--output')
  const own = hasOutput ? [words.join(' ')] : []
  return [...own, ...command.commands.flatMap((one) => namesOf(one, [...words, one.name()]))]
}

test('every command that lists is in the table', () => {
  const names = namesOf(makeProgram(parts)).filter((name) =>
    /(?:^| )(?:list|listeners|history|instances|timeline|explain|audit)$/.test(name),
  )
  expect(names.toSorted()).toEqual(Object.keys(LISTS).toSorted())
})

let server: Waypost
let terminal: Terminal
let naming: NamingClient
let speaking: NodeJS.Timeout | undefined

beforeAll(async () => {
  const managed = await startManaged()
  server = managed.waypost
  const { ask } = managed
  for (const content of ['one', 'two'])
    await ask('POST', '/svc/v1/cs/configs', { group: 'G', dataId: 'a', content })
  await ask('POST', '/svc/v1/ns/instance', {
    serviceName: 'shop',
    ip: '10.0.0.7',
    port: '80',
    ephemeral: 'false',
    metadata: '{"zone":"ä\\n"}',
  })
  await managed.addUser({ username: 'ann', password: 'x', permissions: { 'dev:*:config/*': 'r' } })
  terminal = new Terminal()
  const login = ['login', '--server', server.url, '--username', 'nacos', '--context', 'here']
  expect(await terminal.run(login, 'secret\n')).toMatchObject({ code: 0 })
  const gray = ['config', 'gray', 'publish', 'G/a', '-', '--tag', 't']
  expect(await terminal.run(gray, 'three')).toMatchObject({ code: 0 })
  const body = new URLSearchParams({ username: 'nacos', password: 'secret' })
  const answer = await fetch(`${server.url}/svc/v1/auth/login`, { method: 'POST', body })
  const { accessToken } = (await answer.json()) as { accessToken: string }
  naming = new NamingClient(await connectGrpc(server, { headers: { accessToken } }))
  await naming.register('shop', { ip: '10.0.0.1', port: 8080 })
  const configListenContexts = [{ group: 'G', dataId: 'a', tenant: '', md5: '' }]
  await naming.grpc.ask('ConfigBatchListenRequest', { listen: true, configListenContexts })
  // A client that says nothing for long is shown as silent: two calls would differ.
  speaking = setInterval(() => void naming.grpc.ask('HealthCheckRequest').catch(() => {}), 2_000)
}, 60_000)

afterAll(async () => {
  clearInterval(speaking)
  await naming?.grpc.close()
  await server?.stop()
})

/**
 * Without the times of a text, and without how long a server is there: a second may pass between two calls. A longer number
 * makes its column wider.
 */
const withoutTimes = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, 'TIME')
    .replaceAll(/ +\d+[smhd] +/g, ' SPAN ')
    .replaceAll(/ {2,}/g, '  ')

/** Without the values that may differ between two calls: times, numbers, and lines of measurements, which grow. */
function steady(value: unknown): unknown {
  if (typeof value === 'number') return 0
  if (Array.isArray(value) && value.every((one) => typeof one === 'number')) return []
  if (typeof value === 'string') return withoutTimes(value)
  if (Array.isArray(value)) return value.map(steady)
  if (typeof value !== 'object' || value === null) return value
  // Only a client that is silent for a while has them.
  const { silentMs: _silentMs, removedInMs: _removedInMs, ...rest } = value as Record<string, unknown>
  return Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, steady(one)]))
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1)

/** Commands that are only lists, and those that show one thing. */
const kindOf = ([command]: readonly [string, ...unknown[]]): string =>
  command.endsWith('list') ? 'list' : 'other'

describe.each(sampled(Object.entries(LISTS), kindOf))('%s', (command, [words, name, heading]) => {
  const line = `${command} ${words}`.trim().split(' ')

  test('prints the same things in each form', async () => {
    // The audit grows by each sign-in and each answer of its own: two calls differ.
    const given = command === 'audit' ? [...line, '--operation', 'publish config'] : line
    const shown = await terminal.ok(...given)
    expect(withoutTimes(await terminal.ok(...given, '--output', 'table'))).toBe(withoutTimes(shown))
    const json = JSON.parse(await terminal.ok(...given, '--output', 'json')) as object
    expect(linesOf(await terminal.ok(...given, '--output', 'json'))).toHaveLength(1)
    const yaml = parse(await terminal.ok(...given, '-o', 'yaml')) as object
    const names = linesOf(await terminal.ok(...given, '-o', 'name'))
    expect(steady(yaml)).toEqual(steady(json))
    if (command !== 'context list')
      expect(steady(JSON.parse(await terminal.ok(...given, '--json')))).toEqual(steady(json))
    const [headings, ...rows] = linesOf(shown)
    expect(headings).toContain(heading)
    expect(headings).toBe(headings!.toUpperCase())
    const count = Object.keys(json).length
    expect(count).toBeGreaterThan(0)
    expect([rows.length, names.length]).toEqual([count, count])
    for (const one of names) expect(one).toMatch(name)
    // Colours and moves of the cursor are for terminals.
    expect(shown).not.toContain('\u001b')
  }, 60_000)

  test('refuses another form', async () => {
    const { code, out, err } = await terminal.run([...line, '-o', 'xml'])
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('json, yaml, name')])
  })
})

test('an empty list is headings, [] or nothing', async () => {
  const empty = await startWaypost()
  for (const words of ['config list', 'service list', 'client list', 'audit']) {
    const line = [...words.split(' '), '--server', empty.url]
    expect(linesOf(await terminal.ok(...line))).toHaveLength(1)
    expect(await terminal.ok(...line, '-o', 'json')).toBe('[]\n')
    expect(await terminal.ok(...line, '-o', 'yaml')).toBe('[]\n')
    expect(await terminal.ok(...line, '-o', 'name')).toBe('')
  }
  await empty.stop()
}, 60_000)
