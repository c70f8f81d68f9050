/**
 * Clients of 1.x over HTTP, unmodified: two of each library on two addresses. A gray version for one address is read and heard by
 * its client alone, and each hears it when it sees another version.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { JAVA, JAVA_1 } from './grpc/java-program.ts'
import type { DrivenClient } from './grpc/driven-client.ts'
import { Library } from './grpc/library.ts'
import { askerOf } from './grpc/plain-scenarios.ts'
import { GO_1, NPM, PYTHON_0 } from './http/http-programs.ts'
import { prepare, PREPARE_LIMIT_MS } from './prepared-program.ts'
import { forwardFrom, type Forwarder } from './tcp-forwarder.ts'

const PROGRAMS = [{ ...JAVA, versions: [JAVA_1] }, NPM, GO_1, PYTHON_0]
/** Where the one client comes from, and where the other does. */
const DIRECT = '127.0.0.1'
const FORWARDED = '127.0.0.2'
const STEPS_MS = 60_000

for (const program of PROGRAMS) {
  const needed = needTool(...program.tools)
  const note = needed.skip ? ` (${needed.reason})` : ''
  describe.skipIf(needed.skip)(`two clients of ${program.language} over HTTP${note}`, () => {
    // A process each: clients of one process share their connections in some libraries.
    const libraries = [1, 2].map(() => new Library(program, program.versions[0]!))
    let server: Waypost
    let forwarder: Forwarder

    beforeAll(async () => {
      await prepare(program)
      server = await startWaypost()
      forwarder = await forwardFrom(FORWARDED, server.port)
    }, PREPARE_LIMIT_MS)
    afterAll(async () => {
      await Promise.all(libraries.map((library) => library.stop()))
      forwarder?.close()
      await server?.stop()
    })

    test(
      'each see and hear the version that is for their address',
      async () => {
        const item = { dataId: 'gray', group: 'DEFAULT_GROUP' }
        const ask = askerOf(server.url)
        const publish = async (content: string, betaIps?: string): Promise<void> => {
          const body = new URLSearchParams({ ...item, content })
          const headers: Record<string, string> = betaIps === undefined ? {} : { betaIps }
          const answer = await fetch(`${server.url}/nacos/v1/cs/configs`, { method: 'POST', body, headers })
          expect(await answer.text()).toBe('true')
        }
        await publish('formal')
        const clients = [server, forwarder].map(({ port }, at) =>
          libraries[at]!.open({ servers: [`127.0.0.1:${port}`] }),
        )
        const [direct, forwarded] = (await Promise.all(clients)) as [DrivenClient, DrivenClient]
        const read = () => Promise.all([direct.read(item), forwarded.read(item)])
        expect(await read()).toEqual(['formal', 'formal'])
        const [heardDirect, heardForwarded] = [await direct.listen(item), await forwarded.listen(item)]
        await expect
          .poll(async () => JSON.parse(await ask('GET', watchersOf(item))).watchers.length as number, {
            timeout: 20_000,
          })
          .toBe(2)

        await publish('beta', FORWARDED)
        await heardForwarded.until('the beta', (seen) => seen === 'beta')
        expect(await read()).toEqual(['formal', 'beta'])
        // Taken out of the rule: both see another version than before.
        await publish('beta', DIRECT)
        await heardDirect.until('the beta', (seen) => seen === 'beta')
        await heardForwarded.until('the formal version again', (seen) => seen === 'formal')
        expect(await read()).toEqual(['beta', 'formal'])
        await ask('POST', '/svc/v1/cs/configs/gray/promote', { ...item, grayName: 'beta' })
        await heardForwarded.until('the promoted version', (seen) => seen === 'beta')
        expect(await read()).toEqual(['beta', 'beta'])
        // The first beta and the promotion were no change for it.
        expect(heardDirect.heard.filter((seen) => seen !== 'formal')).toEqual(['beta'])
      },
      STEPS_MS,
    )
  })
}

function watchersOf(item: Record<string, string>): string {
  return `/svc/v1/console/config/watchers?${new URLSearchParams(item)}`
}
