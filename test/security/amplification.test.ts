import { hash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { publishConfig } from '../../src/core/config/commands/publish-config.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import { at, carryOut, registration } from '../../src/core/core.test-support.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import { State } from '../../src/core/engine/state.ts'
import { toPublishRequest } from '../../src/protocols/parameters/publish-params.ts'
import { parseFormBody, parseQuery, FormValues } from '../../src/protocols/parameters/form-parser.ts'
import { parseMetadata } from '../../src/protocols/parameters/json-fields.ts'
import { compileReader } from '../../src/protocols/parameters/parameter-reader.ts'
import { NACOS_NAMING_RULES, Type } from '../../src/protocols/parameters/schema.ts'

/** A cheap request must not be expensive for the server, in memory or in work. */

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The memory of buffers is freed in the background, shortly after their collection. */
async function bytesInUse(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    collectGarbage()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The bytes by which the heap grows while what `make` gives is kept. */
async function keptBytes(make: () => unknown): Promise<number> {
  const before = await bytesInUse()
  const kept = make()
  const after = await bytesInUse()
  expect(kept).toBeDefined()
  return after - before
}

const MIB = 2 ** 20
const read = compileReader(Type.Object({ ip: Type.String() }), NACOS_NAMING_RULES)
const many = <T>(make: (index: number) => T) => Array.from({ length: 40 }, (_, index) => make(index))
const filler = (index: number) => `${index}${'x'.repeat(MIB)}`

describe('a stored name does not keep its request in memory', () => {
  const name = 'a-name-of-ordinary-length'

  test('from a form', async () => {
    const bytes = await keptBytes(() =>
      many((index) => {
        const values = new FormValues()
        parseFormBody(Buffer.from(`dataId=${name}${index}&content=${filler(index)}`), values, 10)
        return values.get('dataId')
      }),
    )
    expect(bytes).toBeLessThan(4 * MIB)
  })

  test('from a query', async () => {
    const bytes = await keptBytes(() =>
      many((index) => {
        const values = new FormValues()
        parseQuery(`dataId=${name}${index}&other=${filler(index)}`, values, 10)
        return values.get('dataId')
      }),
    )
    expect(bytes).toBeLessThan(4 * MIB)
  })

  test('of an instance, also of a short request', async () => {
    const state = new State(0)
    const address = (index: number) => ({
      ip: `192.168.100.${100 + (index % 100)}`,
      port: index,
      cluster: 'DEFAULT',
    })
    const bytes = await keptBytes(() => {
      for (let index = 0; index < 10_000; index++) {
        const request = `${'x'.repeat(1_000)}${address(index).ip}`
        const ip = request.slice(1_000)
        const serviceKey = { namespaceId: 'public', groupedName: 'g@@s' }
        carryOut(
          state,
          registerInstance(registration({ serviceKey, address: { ...address(index), ip } })),
          at(0),
        )
      }
      return state
    })
    expect(bytes).toBeLessThan(10_000 * 1_000)
  })

  /** The bytes that 5,000 commands leave in a state, each with a name that was the end of a request of 1,500 characters. */
  function bytesOfCommands(commandOf: (name: string) => Command<unknown>): Promise<number> {
    const state = new State(0)
    return keptBytes(() => {
      for (let index = 0; index < 5_000; index++) {
        const request = `${'x'.repeat(1_500)}a-group@@a-name-${index}`
        carryOut(state, commandOf(request.slice(1_500)), at(0))
      }
      return state
    })
  }

  test('of a service, also of a short request', async () => {
    const bytes = await bytesOfCommands((groupedName) =>
      registerInstance(registration({ serviceKey: { namespaceId: 'public', groupedName } })),
    )
    expect(bytes).toBeLessThan(5_000 * 1_500)
  })

  test.each(['dataId', 'appName', 'desc', 'src_user'])(
    'of an item in %s, however short the request',
    async (parameter) => {
      let count = 0
      const bytes = await bytesOfCommands((name) => {
        const params = { dataId: `${count++}`, group: 'g', content: 'a', [parameter]: name }
        const { srcUser, ...request } = toPublishRequest(params)
        const operator = { ip: '127.0.0.1', user: srcUser ?? null }
        return publishConfig({ ...request, md5: hash('md5', request.content, 'hex'), operator })
      })
      expect(bytes).toBeLessThan(5_000 * 1_500)
    },
  )

  test('of an item in the text of its key', async () => {
    const bytes = await keptBytes(() =>
      Array.from({ length: 5_000 }, (_, index) => {
        const request = `${'x'.repeat(1_500)}a-dataId-of-${index}`
        return configKey('public', 'DEFAULT_GROUP', request.slice(1_500)).text
      }),
    )
    expect(bytes).toBeLessThan(5_000 * 1_500)
  })

  test('between blanks', async () => {
    const bytes = await keptBytes(() =>
      many((index) => read(new Map([['ip', `${' '.repeat(MIB)}${name}${index}`]]))),
    )
    expect(bytes).toBeLessThan(4 * MIB)
  })

  test('in metadata of an instance', async () => {
    const bytes = await keptBytes(() =>
      many((index) => parseMetadata(`${name}${index}=${name}${' '.repeat(MIB)},b=c`, 'metadata', 8_192)),
    )
    expect(bytes).toBeLessThan(4 * MIB)
  })
})
