import { expect, test } from 'vitest'
import { recordSaved } from '../../records/record-kind.ts'
import { RecordTables } from '../../records/record-tables.ts'
import { ELECTED, ELECTION, MEMBER, memberIdOf, memberIds } from './member-records.ts'
import { VERSIONS } from './versions.test-support.ts'

const FACTS = {
  ip: '10.0.0.1',
  port: 8848,
  peerPort: 10_848,
  site: 'unknown',
  version: '1.0.0',
  process: 'p',
  auth: 'on',
  versions: VERSIONS,
}

test('a member is read as it was written', () => {
  expect(MEMBER.decode(JSON.parse(JSON.stringify(FACTS)), memberIdOf(FACTS))).toEqual(FACTS)
  expect(() => MEMBER.decode({ ...FACTS, port: '8848' }, '')).toThrow('port')
  expect(ELECTION.decode({ member: memberIdOf(FACTS), term: 3 }, ELECTED).term).toBe(3)
})

test('members are named by their address, in order', () => {
  const tables = new RecordTables()
  for (const port of [9_000, 8_848]) {
    const value = { ...FACTS, port }
    tables.apply(recordSaved(MEMBER, { id: memberIdOf(value), value, stamp: 1 }))
  }
  expect(memberIds(tables)).toEqual(['10.0.0.1:8848', '10.0.0.1:9000'])
})
