import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { runWaypost } from '../support/waypost.ts'
import { type ImportCall, ImportDouble, planFile, taken } from './import-double.ts'

const NOTE = { kind: 'remark', about: 'config', name: 'x', reason: 'y' }

function namespaces(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'namespace',
    id: `n${index}`,
    name: 'n',
    desc: '',
  }))
}

describe('an apply', () => {
  let double: ImportDouble | undefined
  afterEach(async () => double?.stop())
  const apply = async (file: string, ...more: readonly string[]) => {
    const env = { WAYPOST_ACCESS_TOKEN: 'token' }
    return runWaypost(['move', '--apply', file, '--to', double!.url, ...more], env)
  }

  test('sends the head with each call, and no notes', async () => {
    double = await ImportDouble.start()
    const file = planFile([NOTE, ...namespaces(2_500), NOTE], { namespace: 2_500, remark: 2 })
    const { code, stdout } = await apply(file)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${double.url}: 2,500 taken, 0 unchanged, 0 kept, 0 refused\n`,
    })
    expect(double.calls.map(({ lines }) => lines.length)).toEqual([1_001, 1_001, 501])
    expect(new Set(double.calls.map(({ lines }) => lines[0]!.kind))).toEqual(new Set(['plan']))
    expect(new Set(double.calls.flatMap(({ lines }) => lines.slice(1).map(({ kind }) => kind)))).toEqual(
      new Set(['namespace']),
    )
    expect(double.calls[0]).toMatchObject({ url: '/svc/v1/operator/import', token: 'Bearer token' })
    await apply(file, '--overwrite')
    expect(double.calls.at(-1)!.url).toBe('/svc/v1/operator/import?overwrite=true')
  })

  test('leaves users without passwords in the plan, and says so', async () => {
    double = await ImportDouble.start()
    const user = { kind: 'user', username: 'eve', passwordHash: null, enabled: true }
    const { code, stdout } = await apply(planFile([user, ...namespaces(1)], { user: 1, namespace: 1 }))
    expect(code).toBe(0)
    expect(stdout).toMatch(/ 1 taken, .*\nnot sent: user eve: .*\n$/)
    expect(double.calls.map(({ lines }) => lines.map(({ kind }) => kind))).toEqual([['plan', 'namespace']])
  })

  test('sends ephemeral instances only while what was read is fresh', async () => {
    double = await ImportDouble.start()
    const place = {
      kind: 'instance',
      namespace: '',
      group: 'G',
      service: 's',
      cluster: 'c',
      ip: '10.0.0.1',
      port: 80,
    }
    const rest = { weight: 1, enabled: true, healthy: true, metadata: {}, app: '' }
    const minutesAgo = (minutes: number, ephemeral: boolean) => ({
      ...place,
      ...rest,
      ephemeral,
      seenMs: Date.now() - minutes * 60_000,
    })
    const file = planFile([minutesAgo(9, false), minutesAgo(9, true), minutesAgo(0, true)])
    const { stdout } = await apply(file)
    expect(stdout).toContain('refused: 1 ephemeral instances: they were read more than 5 minutes ago')
    expect(double.calls[0]!.lines).toHaveLength(3)
    await apply(file, '--stale-ok')
    expect(double.calls[1]!.lines).toHaveLength(4)
  })

  test('adds the time since the reading to the clock of the old server', async () => {
    double = await ImportDouble.start()
    const times = { lastRefMs: Date.now() - 30_000, endedMs: Date.now() - 60_000 }
    await apply(planFile([{ kind: 'namespace', id: 'n', name: 'n', desc: '' }], {}, times))
    const [head] = double.calls[0]!.lines as unknown as [{ lastRefMs: number }]
    expect(head.lastRefMs).toBeGreaterThanOrEqual(times.lastRefMs + 60_000)
  })

  test('asks a server behind a prefix, whose own document is elsewhere', async () => {
    double = await ImportDouble.start()
    double.isKnown = false
    const made = await runWaypost(
      ['move', '--apply', planFile(namespaces(1)), '--to', `${double.url}/prefix`],
      { WAYPOST_ACCESS_TOKEN: 'token' },
    )
    expect(made).toMatchObject({ code: 0 })
    expect(double.calls.map(({ url }) => url)).toEqual(['/prefix/svc/v1/operator/import'])
  })

  test('names the administrators of the plan', async () => {
    double = await ImportDouble.start()
    await apply(planFile(['ann', 'bob'].map((username) => ({ kind: 'role', username, role: 'ROLE_ADMIN' }))))
    expect(double.calls[0]!.url).toBe('/svc/v1/operator/import?administrators=ann%2Cbob')
  })

  test('takes further administrators, and names those that are no users of the plan', async () => {
    double = await ImportDouble.start()
    const lines = ['ann', 'bob'].map((username) => ({
      kind: 'user',
      username,
      passwordHash: `$2a$10$${'a'.repeat(53)}`,
      enabled: true,
    }))
    const made = await apply(planFile(lines), '--administrators', 'bob,bod')
    expect(made).toMatchObject({ code: 1 })
    expect(made.stdout).toContain('no administrator: bod: the plan has no user of this name')
    expect(double.calls[0]!.url).toContain('administrators=bob%2Cbod')
  })

  test.each([
    ['--apply', '--history', 'none'],
    ['--apply', '--ephemeral'],
    ['--plan', '--overwrite'],
    ['--plan', '--stale-ok'],
  ])('refuses with %s what means nothing there: %s', async (half, ...flags) => {
    const made = await runWaypost([
      'move',
      half,
      planFile(namespaces(1)),
      '--from',
      'http://127.0.0.1:1',
      ...flags,
    ])
    expect(made).toMatchObject({ code: 2 })
    expect(made.stderr).toContain(`'${flags[0]}`)
  })

  test('sends users in slices, because each of their hashes takes the server a while', async () => {
    double = await ImportDouble.start()
    const passwordHash = `$2a$10$${'a'.repeat(53)}`
    const users = Array.from({ length: 130 }, (_, index) => ({
      kind: 'user',
      username: `u${index}`,
      passwordHash,
      enabled: true,
    }))
    expect(await apply(planFile([...users, ...namespaces(950)]))).toMatchObject({ code: 0 })
    const usersOf = ({ lines }: ImportCall) => lines.filter(({ kind }) => kind === 'user').length
    expect(double.calls.map(usersOf)).toEqual([20, 20, 20, 20, 20, 20, 10])
    expect(double.calls.flatMap(({ lines }) => lines.slice(1))).toHaveLength(1_080)
  })

  test('limits the bytes of a call, but for a single line', async () => {
    double = await ImportDouble.start()
    const long = (bytes: number) => ({ kind: 'namespace', id: 'n', name: 'n', desc: 'x'.repeat(bytes) })
    await apply(planFile([long(900_000), long(900_000), long(900_000), long(5_000_000)]))
    expect(double.calls.map(({ lines }) => lines.length - 1)).toEqual([2, 1, 1])
  })

  test('names what was refused, by its line in the file', async () => {
    double = await ImportDouble.start()
    double.answer = ({ lines }) =>
      taken(
        lines.length - 1,
        lines.length === 1_001 ? [] : [{ line: 3, outcome: 'refused', reason: 'not\u0007 allowed' }],
      )
    const file = planFile([NOTE, ...namespaces(1_005)])
    const { code, stdout } = await apply(file)
    expect(code).toBe(1)
    // The head, the note and 1,000 namespaces are before those of the second call.
    expect(stdout).toContain('refused: namespace n1001 (line 1004): not\\x07 allowed\n')
    const { stdout: json } = await apply(file, '--output', 'json')
    expect(JSON.parse(json)).toMatchObject({
      taken: 1_004,
      refused: 1,
      lines: [{ line: 1_004, name: 'n1001' }],
    })
  })

  test('repeats a call that a busy or restarting server does not answer', async () => {
    double = await ImportDouble.start()
    let left = 2
    double.answer = ({ lines }) => {
      left--
      if (left === 1) return { status: 503, body: { detail: 'busy' } }
      return left === 0 ? undefined : taken(lines.length - 1)
    }
    expect((await apply(planFile(namespaces(1)))).code).toBe(0)
    expect(double.calls).toHaveLength(3)
  })

  test('says how far it was where a call fails, and that it continues', async () => {
    double = await ImportDouble.start()
    double.answer = ({ lines }) =>
      lines.length === 1_001 ? taken(1_000) : { status: 507, body: { detail: 'the store is full' } }
    const { code, stderr } = await apply(planFile(namespaces(1_005), { namespace: 1_005 }))
    expect(code).toBe(2)
    expect(stderr).toContain(
      'did not import: the store is full (1,000 of 1,005 lines were sent; the same command continues)',
    )
  })

  test('sends nothing of a damaged plan', async () => {
    double = await ImportDouble.start()
    const whole = planFile(namespaces(2_000), { namespace: 2_000 })
    const text = readFileSync(whole, 'utf8')
    const failures: [string, RegExp][] = [
      [text.slice(0, -5), /line 2002 of the plan: the line is not JSON: it may be cut/],
      [`${text.split('\n').slice(0, 1_500).join('\n')}\n`, /has no line of kind end as its last: it is cut/],
      [text.replace('"id":"n1998"', '"id":7'), /waypost: line 2000 of the plan: id must be a text/],
      ['', /is empty: it is no plan/],
    ]
    for (const [damaged, message] of failures) {
      writeFileSync(whole, damaged)
      const { code, stderr } = await apply(whole)
      expect(code).toBe(2)
      expect(stderr).toMatch(message)
    }
    expect(double.calls).toEqual([])
  })

  test('says how many lines the file has less or more than its head says, and sends the others', async () => {
    double = await ImportDouble.start()
    const user = { kind: 'user', username: 'u', passwordHash: null, enabled: true }
    const said = { namespace: 2_007, config: 3, remark: 1 }
    const file = planFile([...namespaces(2_000), user, NOTE], said)
    const { code, stdout } = await apply(file)
    expect(code).toBe(0)
    expect(stdout.split('\n').filter((line) => line.startsWith('note:'))).toEqual([
      'note: the plan has 2,000 lines of kind namespace, 7 less than its head says: taken out, or lost',
      'note: the plan has 0 lines of kind config, 3 less than its head says: taken out, or lost',
      'note: the plan has 1 line of kind user, 1 more than its head says: added',
    ])
    expect(double.calls.flatMap(({ lines }) => lines.slice(1))).toHaveLength(2_000)
    const { stdout: json } = await apply(file, '--output', 'json')
    expect(JSON.parse(json)).toMatchObject({
      otherCounts: {
        namespace: { head: 2_007, file: 2_000 },
        config: { head: 3, file: 0 },
        user: { head: 0, file: 1 },
      },
    })
    expect((await apply(planFile(namespaces(3), { namespace: 3 }))).stdout).not.toContain('note:')
  })

  test('refuses history that comes after its item or after a later record, which would be lost', async () => {
    double = await ImportDouble.start()
    const item = { namespace: '', group: 'G', dataId: 'a', content: 'new', md5: null, type: 'text' }
    const notes = { encryptedDataKey: '', appName: '', user: null, ip: null }
    const texts = { desc: null, use: null, effect: null, schema: null, tags: null }
    const config = { kind: 'config', ...item, ...notes, ...texts, createdMs: 1, modifiedMs: 2 }
    const record = { kind: 'history', ...item, ...notes, oldId: '1', op: 'I', atMs: 1 }
    expect((await apply(planFile([record, config]))).code).toBe(0)
    double.calls.length = 0
    const { code, stderr } = await apply(planFile([config, record]))
    expect(code).toBe(2)
    expect(stderr).toMatch(/line 3 of the plan: a history record of .*a comes after the item/)
    const mixed = await apply(
      planFile([
        { ...record, oldId: '10' },
        { ...record, oldId: '9', atMs: 5 },
      ]),
    )
    expect(mixed.code).toBe(2)
    expect(mixed.stderr).toMatch(
      /line 3 of the plan: the history record 9 of .*a comes after that with the id 10/,
    )
    expect(double.calls).toEqual([])
  })
})
