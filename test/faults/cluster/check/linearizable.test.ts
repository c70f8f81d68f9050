import { describe, expect, test } from 'vitest'
import { ETCD_HOOK_MS, etcdTools } from '../../../support/etcd.ts'
import { linearizability, type RegisterOperation } from './linearizable.ts'

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''

type Short = Partial<RegisterOperation> & Pick<RegisterOperation, 'kind' | 'begunMs'>

let client = 0

function operation(short: Short): RegisterOperation {
  const nothing = { key: 'a', value: null, expected: null, seen: null, changed: null }
  return { ...nothing, client: ++client, endedMs: short.begunMs + 10, ...short }
}

const put = (value: string | null, begunMs: number, more: Partial<RegisterOperation> = {}) =>
  operation({ kind: 'put', value, begunMs, ...more })
const read = (seen: string | null, begunMs: number) => operation({ kind: 'read', seen, begunMs })
const set = (expected: string | null, value: string, begunMs: number) => {
  return (changed: boolean | null, more: Partial<RegisterOperation> = {}) =>
    operation({ kind: 'compare-and-set', expected, value, changed, begunMs, ...more })
}

const tagged = (seen: string | null, begunMs: number) => operation({ kind: 'read-gray', seen, begunMs })
const end = (kind: 'promote' | 'stop' | 'delete', begunMs: number, changed = true) =>
  operation({ kind, changed, begunMs })

async function illegal(...operations: RegisterOperation[]): Promise<readonly string[]> {
  const { illegal: found, undecided } = await linearizability(operations)
  expect(undecided).toEqual([])
  return found
}

describe.skipIf(etcdTools.skip)(`Porcupine${note}`, { timeout: ETCD_HOOK_MS }, () => {
  test('accepts what a register can answer', async () => {
    expect(await illegal(put('1', 0), read('1', 20), put(null, 40), read(null, 60))).toEqual([])
    expect(await illegal(put('1', 0), put('2', 5), read('1', 20))).toEqual([])
    expect(await illegal(put('1', 0), set('1', '2', 20)(true), read('2', 40))).toEqual([])
    expect(await illegal(put('1', 0), set('0', '2', 20)(false), read('1', 40))).toEqual([])
  })

  test('lets a write without an answer happen late, or never', async () => {
    const lost = put('1', 0, { endedMs: undefined })
    expect(await illegal(lost, read(null, 20), put('2', 40), read('1', 60))).toEqual([])
    expect(await illegal(lost, put('2', 40), read('2', 60))).toEqual([])
    expect(await illegal(set(null, '1', 0)(null, { endedMs: undefined }), read('1', 20))).toEqual([])
  })

  test('finds an acknowledged write that is lost', async () => {
    expect(await illegal(put('1', 0), put('2', 20), read('1', 40))).toEqual(['a'])
    expect(await illegal(put('1', 0), read(null, 20))).toEqual(['a'])
  })

  test('finds a deleted value that comes back', async () => {
    expect(await illegal(put('1', 0), put(null, 20), read('1', 40))).toEqual(['a'])
  })

  test('finds two writes that both replaced the same version', async () => {
    expect(await illegal(put('1', 0), set('1', '2', 20)(true), set('1', '3', 25)(true))).toEqual(['a'])
  })

  test('finds a refusal that was decided on an old state', async () => {
    expect(await illegal(put('1', 0), put('2', 20), set('2', '3', 40)(false))).toEqual(['a'])
  })

  test('accepts what an item with a gray version can answer', async () => {
    const gray = put('2', 20, { kind: 'put-gray' })
    expect(await illegal(put('1', 0), gray, read('1', 40), tagged('2', 60))).toEqual([])
    expect(await illegal(put('1', 0), gray, end('promote', 40), read('2', 60), tagged('2', 80))).toEqual([])
    expect(await illegal(put('1', 0), gray, end('stop', 40), tagged('1', 60))).toEqual([])
    expect(await illegal(put('1', 0), gray, end('delete', 40), tagged(null, 60), read(null, 80))).toEqual([])
    expect(await illegal(put('1', 0), end('promote', 20, false), tagged('1', 40))).toEqual([])
  })

  test('finds a gray version that a promotion, a stop or a deletion leaves, or that comes back', async () => {
    const gray = put('2', 20, { kind: 'put-gray' })
    for (const kind of ['stop', 'delete'] as const)
      expect(await illegal(put('1', 0), gray, end(kind, 40), tagged('2', 60))).toEqual(['a'])
    expect(await illegal(put('1', 0), gray, end('promote', 40), put('3', 60), tagged('2', 80))).toEqual(['a'])
    expect(await illegal(put('1', 0), gray, end('promote', 40), read('1', 60))).toEqual(['a'])
    expect(await illegal(put('1', 0), gray, read('2', 60))).toEqual(['a'])
    expect(await illegal(put('1', 0), gray, end('stop', 40, false))).toEqual(['a'])
    expect(await illegal(put('1', 0), gray, end('stop', 40), end('promote', 60))).toEqual(['a'])
  })

  test('names the keys that are wrong, and only those', async () => {
    const right = [put('1', 0, { key: 'right' }), read('1', 20)].map((one) => ({ ...one, key: 'right' }))
    expect(await illegal(...right, put('1', 0), read('2', 20))).toEqual(['a'])
  })
})
