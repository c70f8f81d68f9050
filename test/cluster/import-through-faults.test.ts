/** An apply to servers on etcd whose leader dies meanwhile, and two applies of one plan at once: in the end all is there once. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, inject, test, vi } from 'vitest'
import { managedBy } from '../support/administrator.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS, type EtcdMember } from '../support/etcd.ts'
import { configLine, historyLine, PLAN_HEAD, planOf } from '../support/plan-lines.ts'
import { runWaypost } from '../support/waypost.ts'

const ITEMS = 300
const RECORDS = 3
/** Records of one item, in several parts of a call: each part is written by itself. */
const LONG = 350
const LIMIT_MS = 120_000
/** Older records would be removed by their age. */
const BEGAN_MS = Date.now() - 3_600_000

/** The lines of items with three records each, and of services with an instance. */
function linesOf(prefix: string): object[] {
  let id = 0
  const items = Array.from({ length: ITEMS }, (_, index) => {
    const dataId = `${prefix}${index}`
    const record = (op: string, content: string) => {
      const oldId = ++id
      return historyLine(dataId, `${oldId}`, { op, content, atMs: BEGAN_MS + oldId })
    }
    return [
      record('I', 'one'),
      record('U', 'one'),
      record('U', 'two'),
      configLine(dataId, { content: 'three', createdMs: BEGAN_MS, modifiedMs: BEGAN_MS + id }),
    ]
  })
  return items.flat()
}

function planFile(lines: readonly object[], counts = { history: ITEMS * RECORDS, config: ITEMS }): string {
  const file = join(mkdtempSync(join(inject('temporaryDirectory'), 'faults-')), 'plan')
  writeFileSync(file, `${planOf([...lines, { kind: 'end' }], { ...PLAN_HEAD, counts })}\n`)
  return file
}

describeOnEtcd('an apply to servers on etcd', 300_000, () => {
  const cluster = clusterForTests({ servers: 2, etcdMembers: 3, settings: { auth: 'report' } })
  beforeAll(async () => void (await managedBy(cluster.servers[0]!)), ETCD_HOOK_MS)

  const urlOf = (server: number): string => cluster.servers[server]!.url
  const apply = async (file: string, server: number) => {
    const args = ['move', '--apply', file, '--to', urlOf(server), '--username', 'nacos', '--output', 'json']
    return runWaypost(args, { WAYPOST_PASSWORD: 'secret' }, LIMIT_MS)
  }
  /** Repeats the command, as its message says, until it has sent everything. */
  const applied = (file: string, server: number) =>
    vi.waitFor(
      async () => {
        const { code, stdout, stderr } = await apply(file, server)
        expect(code, stderr).toBe(0)
        return JSON.parse(stdout) as { taken: number; unchanged: number; kept: number; refused: number }
      },
      { timeout: LIMIT_MS, interval: 500 },
    )

  async function leader(): Promise<EtcdMember> {
    for (const member of cluster.etcd.members) {
      const metrics = await (await fetch(`${member.health}/metrics`)).text()
      if (/^etcd_server_is_leader 1$/m.test(metrics)) return member
    }
    throw new Error('no member leads')
  }

  async function recordsOf(dataId: string): Promise<string[]> {
    const query = new URLSearchParams({
      dataId,
      group: 'G',
      search: 'accurate',
      pageNo: '1',
      pageSize: '500',
    })
    const response = await fetch(`${urlOf(1)}/svc/v1/cs/history?${query}`)
    const { pageItems } = (await response.json()) as { pageItems: { opType: string; importedId?: string }[] }
    return pageItems.map(({ opType, importedId }) => `${opType.trim()} ${importedId ?? '-'}`).toReversed()
  }

  async function isThere(dataId: string): Promise<boolean> {
    return (await fetch(`${urlOf(0)}/svc/v1/cs/configs?dataId=${dataId}&group=G`)).status === 200
  }

  async function expectWhole(prefix: string): Promise<void> {
    for (let index = 0; index < ITEMS; index++) {
      const first = index * RECORDS + 1
      expect(await recordsOf(`${prefix}${index}`), `${prefix}${index}`).toEqual([
        `I ${first}`,
        `U ${first + 1}`,
        `U ${first + 2}`,
        expect.stringMatching(/^[IU] -?$/),
      ])
    }
  }

  test('brings everything once, though the leader of etcd is killed in the middle', async () => {
    const file = planFile(linesOf('killed-'))
    const running = apply(file, 0)
    await vi.waitFor(async () => expect(await isThere(`killed-${ITEMS / 10}`)).toBe(true), {
      timeout: LIMIT_MS,
      interval: 20,
    })
    const dead = await leader()
    await dead.kill()
    const { stderr } = await running
    expect(stderr).not.toMatch(/\n {4}at /)
    await dead.restart()
    const { refused, kept } = await applied(file, 0)
    expect({ refused, kept }).toEqual({ refused: 0, kept: 0 })
    expect(await applied(file, 1)).toMatchObject({ unchanged: ITEMS * (RECORDS + 1) })
    await expectWhole('killed-')
  })

  test('of the same plan by two servers at once brings everything once', async () => {
    const file = planFile(linesOf('twice-'))
    await Promise.all([applied(file, 0), applied(file, 1)])
    expect(await applied(file, 1)).toMatchObject({ unchanged: ITEMS * (RECORDS + 1) })
    await expectWhole('twice-')
  })

  test('of long histories by two servers at once brings each record once', async () => {
    const names = ['long-1', 'long-2']
    const lines = names.flatMap((dataId, item) => {
      const history = Array.from({ length: LONG }, (_, at) => {
        const oldId = String(1_000_000 * (item + 1) + at)
        const more = { op: at === 0 ? 'I' : 'U', content: `${Math.max(0, at - 1)}`, atMs: BEGAN_MS + at }
        return historyLine(dataId, oldId, more)
      })
      const config = { content: 'last', createdMs: BEGAN_MS, modifiedMs: BEGAN_MS + LONG }
      return [...history, configLine(dataId, config)]
    })
    const file = planFile(lines, { history: names.length * LONG, config: names.length })
    await Promise.all([applied(file, 0), applied(file, 1)])
    expect(await applied(file, 1)).toMatchObject({ unchanged: lines.length })
    for (const [item, dataId] of names.entries()) {
      const ids = (await recordsOf(dataId)).map((record) => record.split(' ')[1])
      const expected = Array.from({ length: LONG }, (_, at) => String(1_000_000 * (item + 1) + at))
      expect(ids.slice(0, LONG)).toEqual(expected)
      expect(ids).toHaveLength(LONG + 1)
    }
  })
})
