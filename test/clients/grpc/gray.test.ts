/**
 * Clients over gRPC, unmodified, on three servers: two clients of each library that has labels, and one of the two has the label
 * of a gray version. Each client reads and is notified of its own version, also when a server is killed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Cluster, startCluster } from '../../support/cluster.ts'
import { ETCD_HOOK_MS, etcdTools } from '../../support/etcd.ts'
import { needTool } from '../../support/need-tool.ts'
import { prepare, PREPARE_LIMIT_MS } from '../prepared-program.ts'
import type { DrivenClient, ItemName } from './driven-client.ts'
import { GO } from './go-program.ts'
import { JAVA } from './java-program.ts'
import { Library, type LibraryProgram } from './library.ts'
import { askerOf } from './plain-scenarios.ts'
import { PYTHON } from './python-program.ts'
import type { Watch } from './watch.ts'

const PROGRAMS = [JAVA, GO, PYTHON]
const ITEM: Required<ItemName> = { dataId: 'gray', group: 'DEFAULT_GROUP' }
const GRAY = '/svc/v1/cs/configs/gray'
const STEPS_MS = 120_000
const WAITING = { timeout: 20_000 }
/** Java has labels since 2.3.2. */
const WITHOUT_LABELS = new Set(['2.0.4'])

interface Listener {
  readonly title: string
  readonly client: DrivenClient
  readonly watch: Watch<string>
}

const needed = needTool(...PROGRAMS.flatMap(({ tools }) => tools))
const skipped = needed.skip || etcdTools.skip
const note = skipped ? ` (${needed.skip ? needed.reason : etcdTools.reason})` : ''

describe.skipIf(skipped)(`clients over gRPC with and without a label${note}`, () => {
  const meant = librariesOf(true)
  const others = librariesOf(false)
  let cluster: Cluster

  beforeAll(
    async () => {
      for (const program of PROGRAMS) await prepare(program)
      cluster = await startCluster({ servers: 3 })
    },
    PREPARE_LIMIT_MS * 3 + ETCD_HOOK_MS,
  )
  afterAll(async () => {
    await Promise.all([...meant, ...others].map(({ library }) => library.stop()))
    await cluster?.stop()
  })

  const listening = (libraries: readonly NamedLibrary[]): Promise<Listener[]> =>
    Promise.all(
      libraries.map(async ({ title, library }) => {
        const servers = cluster.servers.map(({ port }) => `127.0.0.1:${port}`)
        const client = await library.open({ servers })
        return { title, client, watch: await client.listen(ITEM) }
      }),
    )
  const hear = (listeners: readonly Listener[], content: string): Promise<unknown> =>
    Promise.all(
      listeners.map(({ title, watch }) => watch.until(`${title}: ${content}`, (seen) => seen === content)),
    )
  const read = async (listeners: readonly Listener[]): Promise<Set<string | null>> =>
    new Set(await Promise.all(listeners.map(({ client }) => client.read(ITEM))))

  test(
    'see and hear the version that is for them, on three servers and on two',
    async () => {
      const [first, second] = cluster.servers.map(({ url }) => askerOf(url))
      await first!('POST', '/svc/v1/cs/configs', { ...ITEM, content: 'formal' })
      const [inside, outside] = await Promise.all([listening(meant), listening(others)])
      await expect.poll(() => read([...inside, ...outside]), WAITING).toEqual(new Set(['formal']))
      const rule = { grayName: 'test', grayType: 'tagv2', grayMatchRuleExp: 'env=gray' }
      await first!('POST', GRAY, { ...ITEM, ...rule, content: 'gray' })
      await hear(inside, 'gray')
      expect(await read(inside)).toEqual(new Set(['gray']))
      expect(await read(outside)).toEqual(new Set(['formal']))

      await cluster.servers[0]!.kill()
      await second!('PUT', GRAY, { ...ITEM, grayName: 'test', grayMatchRuleExp: 'env=another' })
      await hear(inside, 'formal')
      await second!('PUT', GRAY, { ...ITEM, grayName: 'test', grayMatchRuleExp: 'env=gray' })
      await hear(inside, 'gray')
      await second!('POST', `${GRAY}/promote`, { ...ITEM, grayName: 'test' })
      await hear(outside, 'gray')
      for (const { title, watch } of outside)
        expect([title, watch.heard.filter((seen) => seen !== 'formal')]).toEqual([title, ['gray']])
    },
    STEPS_MS,
  )
})

interface NamedLibrary {
  readonly title: string
  readonly library: Library
}

function librariesOf(hasLabel: boolean): NamedLibrary[] {
  return PROGRAMS.flatMap((program) =>
    program.versions
      .filter(({ version }) => !WITHOUT_LABELS.has(version))
      .map((version) => ({
        title: version.says ?? version.version,
        library: new Library(hasLabel ? labelled(program) : program, version),
      })),
  )
}

/** The program, whose library reads its labels from the environment. */
function labelled(program: LibraryProgram): LibraryProgram {
  const run: LibraryProgram['run'] = (version, scratch, caFile) => [
    'env',
    'nacos_app_conn_labels=env=gray',
    ...program.run(version, scratch, caFile),
  ]
  return { ...program, run }
}
