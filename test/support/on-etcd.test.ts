/** The project `on-etcd` (vitest.config.ts): whether its servers do have their data in etcd, and why it is skipped. */
import { existsSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { NOT_ON_ETCD } from './on-etcd.ts'
import { needTool } from './need-tool.ts'
import { startWaypost } from './waypost.ts'

const tools = needTool('go')
const note = tools.skip ? ` (${tools.reason})` : ''

test.skipIf(tools.skip)(
  `the servers of the interface suite have their data in etcd${note}`,
  async () => {
    const server = await startWaypost()
    const settings = /"settings":(\{[^}]*\})/.exec(server.output())?.[1] ?? '{}'
    expect(JSON.parse(settings)).toMatchObject({ store: 'etcd' })
    const form = new URLSearchParams({ dataId: 'a', group: 'G', content: 'x' })
    await fetch(`${server.url}/svc/v1/cs/configs`, { method: 'POST', body: form })
    const again = await server.restart()
    expect(await (await fetch(`${again.url}/svc/v1/cs/configs?dataId=a&group=G`)).text()).toBe('x')
    expect(existsSync(server.dataDir) ? readdirSync(server.dataDir) : []).toEqual([])
    await again.stop()
  },
  60_000,
)

test.each(Object.keys(NOT_ON_ETCD))('%s, which does not run on etcd, exists', (name) => {
  expect(existsSync(new URL(`../interface/${name}.test.ts`, import.meta.url))).toBe(true)
})
