import { expect, test } from 'vitest'
import { configKey, type ConfigItem } from '../../../core/config/state/config-item.ts'
import type { Operations } from '../../../operations/operations.ts'
import type { RequestContext } from '../requests/request-type.ts'
import { joinJson } from '../wire/json.ts'
import { textOf } from '../wire/sent-json.test-support.ts'
import { queryConfig } from './config-requests.ts'

const itemOf = (content: string): ConfigItem =>
  ({
    key: configKey('public', 'G', 'a'),
    content: Buffer.from(content),
    md5: 'm',
    type: 'text',
    modifiedMs: 7,
    notes: { encryptedDataKey: '' },
  }) as unknown as ConfigItem

const NOBODY = { known: () => undefined }

test.each([
  ['a query', {}, ['a=m']],
  ['a query by who has the text', { localMd5: 'm' }, ['a=m']],
  ['a query for the version of a tag', { tag: 't' }, []],
] as const)('the client that listens has the version of the answer to %s', (_title, more, expected) => {
  const taken: string[] = []
  const watch = { took: ({ dataId }: { dataId: string }, md5: string) => void taken.push(`${dataId}=${md5}`) }
  const connections = { known: () => ({ watch }) } as unknown as typeof NOBODY
  const view = Object.assign(() => itemOf('x'), {
    permission: { action: 'read', resource: 'config' } as const,
  })
  const { read, run } = queryConfig({ view } as unknown as Pick<Operations['configs'], 'view'>, connections)
  const client = { version: '', appName: '', clientIp: '', labels: new Map() }
  const call = { caller: {}, headers: new Map(), connection: { client } } as unknown as RequestContext
  void run(read({ dataId: 'a', group: 'G', tenant: '', ...more }, call), call)
  expect(taken).toEqual(expected)
})

test('the answer to a query is encoded once for all who ask for the same version', async () => {
  let item = itemOf('ä "text"')
  const view = Object.assign(() => item, { permission: { action: 'read', resource: 'config' } as const })
  const { read, run } = queryConfig({ view } as unknown as Pick<Operations['configs'], 'view'>, NOBODY)
  const client = { version: '', appName: '', clientIp: '', labels: new Map() }
  const call = { caller: {}, headers: new Map(), connection: { client } } as unknown as RequestContext
  const ask = () => run(read({ dataId: 'a', group: 'G', tenant: '' }, call), call) as object
  const first = ask()
  expect(ask()).toBe(first)
  expect(JSON.parse(textOf(joinJson({ requestId: '7' }, first)))).toEqual({
    requestId: '7',
    content: 'ä "text"',
    contentType: 'text',
    md5: 'm',
    lastModified: 7,
    encryptedDataKey: '',
    beta: false,
  })
  item = itemOf('b')
  expect(textOf(joinJson({}, ask()))).toContain('"content":"b"')
})
