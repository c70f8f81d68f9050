import { expect, test } from 'vitest'
import { snippetsFor, type Connected } from './snippets.ts'

const item: Connected = {
  host: '10.0.0.1',
  port: 8848,
  isTls: false,
  namespaceId: 'prod',
  username: 'shop',
  about: { kind: 'config', group: 'SHOP', dataId: 'app.yaml' },
}
const service: Connected = { ...item, about: { kind: 'service', group: 'SHOP', name: 'orders' } }

test.each([
  ['an item', item, 'app.yaml'],
  ['a service', service, 'orders'],
])('each library is told the address, the namespace, the user and the names of %s', (_, to, name) => {
  const all = snippetsFor(to)
  expect(all.map(({ library }) => library)).toEqual(['Java', 'Go', 'Node.js', 'Python', 'Rust', 'curl'])
  for (const { library, code } of all)
    for (const part of ['10.0.0.1', '8848', 'prod', 'shop', 'SHOP', name, 'WAYPOST_PASSWORD'])
      expect(code, library).toContain(part)
})

test('where nobody signs in, in the default namespace, neither is named', () => {
  for (const { library, code, run } of snippetsFor({ ...item, namespaceId: '', username: '' })) {
    expect(code, library).not.toMatch(/username|password/i)
    expect(code, library).not.toContain('prod')
    expect(run, library).not.toContain('PASSWORD')
  }
})

test('each program has a file, and the command that runs it with its password', () => {
  const [curl, ...programs] = snippetsFor(item).toReversed()
  expect(curl).toMatchObject({ file: '', run: '' })
  for (const { file, run } of programs) {
    expect(run).toContain(file === 'main.go' ? 'go run .' : file)
    expect(run).toMatch(/^WAYPOST_PASSWORD='…' /)
  }
})
