import { expect, test } from 'vitest'
import { isPersistent, readInstance } from './instance-requests.ts'

const read = (sent: unknown) => readInstance(sent, 100)

test('an absent, null or empty key has its default', () => {
  const usual = {
    clusterName: 'DEFAULT',
    weight: 1,
    healthy: true,
    enabled: true,
    ephemeral: true,
    metadata: {},
  }
  for (const nothing of [
    {},
    { clusterName: null, weight: null, metadata: null },
    { clusterName: '', metadata: '' },
  ])
    expect(read({ ip: '10.0.0.1', port: 80, ...nothing })).toEqual({ ip: '10.0.0.1', port: 80, ...usual })
})

test('values of metadata become texts', () => {
  const metadata = { zone: 'a', size: 7, on: true, none: null, list: [1] }
  expect(read({ ip: '10.0.0.1', port: 80, metadata }).metadata).toEqual({
    zone: 'a',
    size: '7',
    on: 'true',
    none: '',
    list: '[1]',
  })
})

test('keys such as __proto__ are keys of metadata like any other', () => {
  const sent: unknown = JSON.parse(
    '{"ip":"10.0.0.1","port":80,"metadata":{"__proto__":"x"},"__proto__":{"weight":9}}',
  )
  const { metadata, weight } = read(sent)
  expect([Object.keys(metadata), weight]).toEqual([['__proto__'], 1])
})

test.each([
  [undefined, 'instance'],
  ['10.0.0.1', 'instance'],
  [[], 'instance'],
  [{ port: 80 }, 'ip'],
  [{ ip: '10.0.0.1' }, 'port'],
  [{ ip: '10.0.0.1', port: 80.5 }, 'port'],
  [{ ip: '10.0.0.1', port: 65_536 }, 'port'],
  [{ ip: { a: 1 }, port: 80 }, 'ip'],
  [{ ip: '10.0.0.1', port: 80, weight: -1 }, 'weight'],
  [{ ip: '10.0.0.1', port: 80, weight: 1e30 }, 'weight'],
  [{ ip: '10.0.0.1', port: 80, clusterName: 'a b' }, 'clusterName'],
  [{ ip: '10.0.0.1', port: 80, metadata: [] }, 'metadata'],
  [{ ip: '10.0.0.1', port: 80, metadata: 'a=1' }, 'metadata'],
  [{ ip: '10.0.0.1', port: 80, metadata: { a: 'x'.repeat(101) } }, 'metadata'],
])('%j is refused because of %s', (sent, parameter) => {
  expect(() => read(sent)).toThrow(expect.objectContaining({ facts: expect.objectContaining({ parameter }) }))
})

test.each([
  [{ ephemeral: false }, true],
  [{ ephemeral: true }, false],
  [{ ephemeral: 'false' }, false],
  [{}, false],
  [null, false],
])('%j is meant to persist: %s', (sent, is) => expect(isPersistent(sent)).toBe(is))

test.each([
  ['10.0.0.1', 'string'],
  [[1, 2], 'a list of 2'],
  [null, 'null'],
])('a refusal names the kind of %j', (sent, named) => {
  expect(() => read(sent)).toThrow(`instance must be an object with ip and port, but is "${named}".`)
})
