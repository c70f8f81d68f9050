/** Each program of "Connect an application" runs as the console shows it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Connected, snippetsFor } from '../../console/src/connect/snippets.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { needTool } from '../support/need-tool.ts'
import { prepare, PREPARE_LIMIT_MS } from './prepared-program.ts'
import { runSnippet, SNIPPET_LIBRARIES } from './snippet-program.ts'

const USER = {
  username: 'shop-app',
  password: 'shop-password',
  permissions: { 'prod:SHOP:config/app.yaml': 'r', 'prod:SHOP:naming/shop': 'rw' },
} as const
const CONTENT = 'a: 1'
const ARRIVAL_MS = 90_000

describe.each(Object.entries(SNIPPET_LIBRARIES))(
  'the %s programs of the console',
  (library, { program, tools, says }) => {
    let managed: ManagedWaypost
    const needed = needTool(...tools)
    beforeAll(async () => {
      if (needed.skip) return
      await prepare(program)
      managed = await startManaged()
      await managed.addUser(USER)
      const item = { tenant: 'prod', dataId: 'app.yaml', group: 'SHOP', content: CONTENT }
      await managed.ask('POST', '/svc/v1/cs/configs', item)
    }, PREPARE_LIMIT_MS)
    afterAll(() => managed?.waypost.stop())

    const programFor = (about: Connected['about']) => {
      const { port } = managed.waypost
      const { username } = USER
      const to = { host: '127.0.0.1', port, isTls: false, namespaceId: 'prod', username, about }
      return snippetsFor(to).find((one) => one.library === library)!
    }

    test.skipIf(needed.skip)('reads an item, and hears its change', { timeout: 150_000 }, async () => {
      const about = { kind: 'config', group: 'SHOP', dataId: 'app.yaml' } as const
      const { ask } = managed
      const running = runSnippet(library, programFor(about), USER.password)
      const query = 'tenant=prod&dataId=app.yaml&group=SHOP'
      const watchers = () => ask('GET', `/svc/v1/console/config/watchers?${query}`)
      try {
        await expect.poll(watchers, { timeout: ARRIVAL_MS }).toMatch(says)
        expect(running.output()).toContain(CONTENT)
        const changed = { tenant: 'prod', dataId: 'app.yaml', group: 'SHOP', content: `for ${library}` }
        await ask('POST', '/svc/v1/cs/configs', changed)
        await expect.poll(running.output).toContain(`for ${library}`)
      } finally {
        running.stop()
      }
    })

    test.skipIf(needed.skip)('registers an instance, and hears of it', { timeout: 150_000 }, async () => {
      const about = { kind: 'service', group: 'SHOP', name: 'shop' } as const
      const running = runSnippet(library, programFor(about), USER.password)
      const query = 'namespaceId=prod&serviceName=shop&groupName=SHOP&pageNo=1&pageSize=10'
      const subscribers = () =>
        managed.ask('GET', `/svc/v1/ns/service/subscribers?${query}`).catch(() => 'no service yet')
      try {
        await expect.poll(subscribers, { timeout: ARRIVAL_MS }).toMatch(says)
        await expect.poll(running.output).toMatch(/8080/)
        const list = await managed.ask('GET', `/svc/v1/ns/instance/list?${query}`)
        expect(list).toContain('"ip":"127.0.0.1","port":8080')
      } finally {
        running.stop()
      }
    })
  },
)
