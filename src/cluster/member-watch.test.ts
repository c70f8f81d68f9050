import { beforeEach, describe, expect, test } from 'vitest'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import { VERSIONS } from '../core/cluster/members/versions.test-support.ts'
import { MemberWatch } from './member-watch.ts'

const facts = (port: number, process = `p${port}`): MemberFacts => ({
  ip: '10.0.0.1',
  port,
  peerPort: port + 2_000,
  site: '',
  version: '1.0.0',
  process,
  auth: 'on',
  versions: VERSIONS,
})

let members: Map<string, MemberFacts>
let silent: Set<string>
let nowMs: number
let lines: string[]
let watch: MemberWatch

beforeEach(() => {
  members = new Map([
    ['self', facts(1)],
    ['other', facts(2)],
  ])
  silent = new Set()
  nowMs = 1_000
  lines = []
  const line = (level: string) => (about: object, text: string) =>
    void lines.push(`${level} ${JSON.stringify(about)} ${text}`)
  watch = new MemberWatch({
    self: 'self',
    members: () => members,
    replies: (id) => !silent.has(id),
    monotonicMs: () => nowMs,
    log: { info: line('info'), warn: line('warn') },
  })
  watch.look()
})

function second(count = 1): void {
  for (let passed = 0; passed < count; passed++) {
    nowMs += 1_000
    watch.look()
  }
}

describe('the watch of members', () => {
  test('writes nothing about members that are there from the beginning', () => {
    second(20)
    expect(lines).toEqual([])
    expect(watch.forMs('other')).toBeUndefined()
  })

  test('writes a line for a member that comes, goes, and is started again', () => {
    members.set('third', facts(3))
    second(5)
    expect(lines).toEqual([expect.stringMatching(/info .*"third","version":"1.0.0".* has joined/)])
    expect(watch.forMs('third')).toBe(4_000)
    members.delete('third')
    second(3)
    expect(lines[1]).toMatch(/warn .*"third".* is gone, .* look at its log/)
    expect(watch.forMs('third')).toBe(2_000)
    members.set('third', facts(3, 'another'))
    second(3)
    expect(lines[2]).toMatch(/info .*"another".* has joined/)
    expect(lines).toHaveLength(3)
  })

  test('writes a line for a new process in the place of another, though it was never seen to be away', () => {
    members.set('other', facts(2, 'another'))
    second(3)
    expect(lines).toEqual([expect.stringContaining('has joined')])
  })

  test('writes a line for a member that does not reply for some seconds, and when it does again', () => {
    silent.add('other')
    second(3)
    silent.clear()
    second()
    expect(lines).toEqual([])
    silent.add('other')
    second(20)
    expect(lines).toEqual([
      expect.stringMatching(/warn .*"other","peerPort":2002.* check that its peer port/),
    ])
    silent.clear()
    second(5)
    expect(lines[1]).toMatch(/info .*"other".* reached again/)
    expect(lines).toHaveLength(2)
  })
})
