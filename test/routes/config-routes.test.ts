import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { KNOWN_PUBLISH_FIELDS } from '../../src/protocols/parameters/publish-params.ts'
import { startFixture } from './fixture.ts'
import { routesFor } from './route-table.ts'

let at: ReturnType<typeof startFixture>
beforeEach(() => (at = startFixture()))

const item = { dataId: 'app.yaml', group: 'G' }
const dialects = ['svc', 'nacos'] as const

async function publish(params: Record<string, string> = {}, headers: Record<string, string> = {}) {
  return at.nacos('POST', '/cs/configs', { params: { ...item, content: 'a: ü', ...params }, headers })
}

describe.each(dialects)('%s: one item', (dialect) => {
  test('has one answer for each version of it', async () => {
    const read = async () => (await at[dialect]('GET', '/cs/configs', { params: item })).answer
    await publish()
    const first = await read()
    expect(await read()).toBe(first)
    await publish({ content: 'b' })
    expect(String((await read())?.body)).toBe('b')
  })

  test('of the largest size is accepted, and one byte more is refused', async () => {
    const send = (content: string) => at[dialect]('POST', '/cs/configs', { params: { ...item, content } })
    expect((await send('世'.repeat(333))).answer?.status).toBe(200)
    expect((await send('世'.repeat(334))).answer?.status).toBe(400)
    expect((await send(' \r\n\t')).answer?.status).toBe(400)
  })

  test('has its own small buffer, not a slice of a shared one', async () => {
    await publish()
    const { content } = at.state.config(configKey('public', item.group, item.dataId))!
    expect(content.buffer.byteLength).toBe(content.length)
  })
})

test('the form of a publish under /svc knows the fields of all dialects', () => {
  const publishes = routesFor({ isOn: false, allows: () => true }).filter(
    ({ method, params }) => method === 'POST' && Object.hasOwn(params.properties, 'content'),
  )
  const names = publishes.flatMap(({ params }) =>
    Object.entries(params.properties).flatMap(([name, { aliases = [] }]) => [name, ...aliases]),
  )
  expect(publishes.length).toBeGreaterThan(5)
  expect(names.filter((name) => !KNOWN_PUBLISH_FIELDS.has(name))).toEqual([])
})
